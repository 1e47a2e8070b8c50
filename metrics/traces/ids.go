package traces

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"lethe/metrics/events"
)

// rootOf is the id of the root span of a trace.
func rootOf(t events.Trace) trace.SpanID { return trace.SpanID(t[8:]) }

// beneath returns a context whose spans are children of the root span of a trace, whichever process
// sends that.
func beneath(t events.Trace) context.Context {
	return trace.ContextWithRemoteSpanContext(context.Background(), first(t))
}

// first is the root span of a trace, as other spans refer to it.
func first(t events.Trace) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(t), SpanID: rootOf(t), TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

type rootKey struct{}

// asRoot returns a context in which a span becomes the root of a trace.
func asRoot(t events.Trace) context.Context {
	return context.WithValue(context.Background(), rootKey{}, t)
}

// ids generates the ids of spans: derived ones for roots, random ones for the others.
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

// next returns a random number other than 0, which is not a valid id.
func (g *ids) next() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return 1 + g.draw.Uint64N(1<<64-1)
}
