package traces

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"lethe/metrics/events"
)

// rootOf is the id of the first span of a trace.
func rootOf(t events.Trace) trace.SpanID { return trace.SpanID(t[8:]) }

// beneath is a context in which spans hang under the first one of a trace, whoever sends that.
func beneath(t events.Trace) context.Context {
	return trace.ContextWithRemoteSpanContext(context.Background(), first(t))
}

// first is the first span of a trace, as others refer to it.
func first(t events.Trace) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(t), SpanID: rootOf(t), TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

type rootKey struct{}

// asRoot is a context in which a span is the first one of a trace.
func asRoot(t events.Trace) context.Context {
	return context.WithValue(context.Background(), rootKey{}, t)
}

// ids are those of spans: given ones for the first of a trace, drawn ones for the others.
type ids struct {
	mu   sync.Mutex
	draw *rand.Rand
}

// NewIDs implements sdktrace.IDGenerator.
func (g *ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	t, is := ctx.Value(rootKey{}).(events.Trace)
	if !is {
		binary.BigEndian.PutUint64(t[:], g.next())
		binary.BigEndian.PutUint64(t[8:], g.next())
	}
	return trace.TraceID(t), rootOf(t)
}

// NewSpanID implements sdktrace.IDGenerator.
func (g *ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	binary.BigEndian.PutUint64(id[:], g.next())
	return id
}

// next draws a number that is not 0, which would be no id.
func (g *ids) next() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return 1 + g.draw.Uint64N(1<<64-1)
}
