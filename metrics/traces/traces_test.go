package traces_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"lethe"
	"lethe/metrics/events"
	"lethe/metrics/traces"
)

// backend is a collector that keeps spans by their names.
type backend struct {
	mu     sync.Mutex
	spans  map[string]*spans.Span
	bodies bytes.Buffer
	away   bool
}

// ServeHTTP implements http.Handler.
func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in collector.ExportTraceServiceRequest
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &in) != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	b.bodies.Write(body)
	for _, resource := range in.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				b.spans[s.Name] = s
			}
		}
	}
}

var secret = lethe.NewSecret([32]byte{1, 2, 3})

func start(t *testing.T, b *backend, seed uint64, log *slog.Logger) *traces.Tracer {
	t.Helper()
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	tracer, err := traces.Start(t.Context(), traces.Options{
		Endpoint: server.URL, Secret: secret, Version: "test", Instance: "one", Random: rand.NewPCG(seed, 0),
		Now: func() time.Time { return time.Unix(1000, 0) }, Logger: log,
	})
	require.NoError(t, err)
	return tracer
}

// Two processes add to the trace of one erasure without telling each other of it.
func TestAnErasureIsOneTrace(t *testing.T) {
	b := &backend{spans: make(map[string]*spans.Span)}
	one, two := start(t, b, 1, slog.New(slog.DiscardHandler)), start(t, b, 2, slog.New(slog.DiscardHandler))
	name := events.TraceOfErasure(secret, "gdpr-17")
	two.Listener()(events.ErasureAnswered{
		Trace: name, Role: "train", Instance: "two", Step: "purged", Duration: 3 * time.Second,
	})
	one.Listener()(events.ErasurePhaseDone{Trace: name, Phase: events.Retrain, Duration: 4 * time.Second})
	one.Listener()(events.ErasurePhaseDone{Trace: name, Phase: events.Whole, Duration: 9 * time.Second})
	require.NoError(t, one.Close())
	require.NoError(t, two.Close())

	require.Len(t, b.spans, 3)
	root := b.spans["erasure: whole"]
	require.Empty(t, root.ParentSpanId)
	require.Equal(t, 9*time.Second, time.Duration(root.EndTimeUnixNano-root.StartTimeUnixNano))
	for _, child := range []string{"train has purged", "erasure: retrain"} {
		require.Equal(t, name.String(), hex.EncodeToString(b.spans[child].TraceId))
		require.Equal(t, root.SpanId, b.spans[child].ParentSpanId, child)
	}
	require.Equal(t, name.String(), hex.EncodeToString(root.TraceId))
	require.NotContains(t, b.bodies.String(), "gdpr-17")
}

// A transaction's trace begins with its record and refers to its timestep's, which has what was done for all.
func TestATransactionRefersToItsTimestep(t *testing.T) {
	b := &backend{spans: make(map[string]*spans.Span)}
	tracer := start(t, b, 1, slog.New(slog.DiscardHandler))
	p := secret.Pseudonym("transaction-1")
	name, followed := events.NewSampler(secret, 1).Trace(p)
	require.True(t, followed)
	l := tracer.Listener()
	l(events.TransactionPassed{Trace: name, Stage: events.Taken, Timestep: 7})
	l(events.TransactionPassed{
		Trace: name, Stage: events.ScoredFinally, Timestep: 7, Duration: time.Second,
	})
	l(events.SnapshotChanged{Timestep: 7, State: lethe.Open})
	l(events.ShardTrained{Model: "trees", Timestep: 7, Reason: events.Update})
	require.NoError(t, tracer.Close())

	taken, scored := b.spans["transaction taken"], b.spans["transaction scored"]
	require.Equal(t, taken.SpanId, scored.ParentSpanId)
	opened, trained := b.spans["timestep is open"], b.spans["train trees"]
	require.Equal(t, opened.SpanId, trained.ParentSpanId)
	require.Len(t, scored.Links, 1)
	require.Equal(t, opened.TraceId, scored.Links[0].TraceId)
	require.Equal(t, opened.SpanId, scored.Links[0].SpanId)
	require.NotContains(t, b.bodies.String(), "transaction-1")
	require.NotContains(t, b.bodies.String(), p.String())
	require.NotContains(t, b.bodies.String(), string(p[:]))
}

// A collector that is away holds nobody up, and is told of once.
func TestACollectorThatIsAwayIsToldOfOnce(t *testing.T) {
	var log bytes.Buffer
	b := &backend{spans: make(map[string]*spans.Span), away: true}
	tracer := start(t, b, 1, slog.New(slog.NewTextHandler(&log, nil)))
	for range 3000 { // more than wait at most
		tracer.Listener()(events.EnsembleSwapped{Timestep: 3})
	}
	require.NoError(t, tracer.Close())
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("traces are lost")), log.String())
	require.Contains(t, log.String(), "404")
}
