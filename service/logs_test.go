package service_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/service"
	"lethe/service/api"
	"lethe/service/servicetest"
)

// logged takes what is logged, from any goroutine.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// timeless leaves times out: their digits may be those of an id.
func timeless(_ []string, a slog.Attr) slog.Attr {
	if kind := a.Value.Kind(); kind == slog.KindTime || kind == slog.KindDuration {
		return slog.Attr{}
	}
	return a
}

// Nothing that is logged, at any level, names a transaction: not of a stream that is scored, of records that
// are refused, of questions to the API, nor of an erasure.
func TestLogsNameNobody(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 47)
	var log logged
	o := servicetest.Options(servicetest.SmallConfig(t, t.TempDir()))
	o.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: timeless}))
	r := servicetest.StartWith(t, o)
	r.Replay(stream)

	const refused = "refused-4711"
	require.NoError(t, r.Client().Write(t.Context(), bus.Transactions, []ingest.Outgoing{
		{Key: []byte(refused), Value: []byte(`{"type":"transaction","id":"` + refused + `","timestep":"soon"}`)},
		{Key: []byte(refused), Value: []byte(`{"type":"transaction","id":"another","timestep":1,"features":[1]}`)},
	}))
	c := callerOf(r)
	erased := servicetest.LabelledIllicit(stream, 3)[0]
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, "/transactions/lookup",
		map[string]any{"ids": []string{string(erased)}}, nil))
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, "/erasures",
		api.ErasureRequest{RequestID: "logs", Nodes: []string{string(erased)}, Reason: "a reason-4712"}, nil))
	require.Equal(t, deletions.Verified, r.Outcome("logs"))
	r.Await(func(*service.Status) bool { return len(deadLetters(r)) > 0 })
	r.Stop()

	text := log.String()
	require.Contains(t, text, "erasure verified", "something was logged")
	for _, id := range []string{refused, "reason-4712"} {
		require.NotContains(t, text, id)
	}
	for _, step := range stream.Steps {
		for _, tx := range step.Transactions {
			require.False(t, strings.Contains(text, string(tx.ID)), "the log names a transaction of timestep %d", step.Timestep)
		}
	}
}

// spansSeen is a collector of OpenTelemetry that keeps the names of spans by their traces.
type spansSeen struct {
	mu     sync.Mutex
	names  map[string][]string
	bodies bytes.Buffer
}

// ServeHTTP implements http.Handler.
func (s *spansSeen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in collector.ExportTraceServiceRequest
	if proto.Unmarshal(body, &in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies.Write(body)
	for _, resource := range in.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				trace := hex.EncodeToString(span.TraceId)
				s.names[trace] = append(s.names[trace], span.Name)
			}
		}
	}
}

// A transaction and an erasure are followed through all roles, each under one name, which says nothing of them.
func TestTracesFollowATransactionAndAnErasure(t *testing.T) {
	t.Parallel()
	seen := &spansSeen{names: make(map[string][]string)}
	server := httptest.NewServer(seen)
	t.Cleanup(server.Close)
	stream := servicetest.SmallStream(t, 4, 60, 48)
	config := servicetest.SmallConfig(t, t.TempDir())
	config.Traces = configs.Traces{Endpoint: server.URL, Transactions: 1}
	r := start(t, config)
	r.Replay(stream)
	erased, kept := servicetest.LabelledIllicit(stream, 3)[0], servicetest.LabelledIllicit(stream, 3)[1]
	require.Equal(t, deletions.Verified, r.Erase("trace-me", lethe.ScopeStubs, erased))
	r.Stop()

	secret, err := configs.KeysOf(config).Secret(t.Context())
	require.NoError(t, err)
	held := func(name events.Trace, want ...string) {
		t.Helper()
		for _, w := range want {
			require.True(t, slices.Contains(seen.names[name.String()], w), "%s is not among %q", w, seen.names[name.String()])
		}
	}
	held(events.TraceOfErasure(secret, "trace-me"), "erasure is accepted", "erasure: rewrite", "train has purged",
		"score has swapped", "train has scanned", "erasure is verified", "erasure: whole")
	held(events.TraceOfTimestep(secret, 3), "timestep is open", "timestep is closed", "partition", "timestep is settled",
		"train elliptic-gin", "serve ensemble", "score")
	held(events.TraceOfTransaction(secret, secret.Pseudonym(kept)), "transaction taken", "transaction scored")
	for _, step := range stream.Steps {
		for _, tx := range step.Transactions {
			p := secret.Pseudonym(tx.ID)
			require.False(t, bytes.Contains(seen.bodies.Bytes(), []byte(tx.ID)), "a span names a transaction")
			require.False(t, bytes.Contains(seen.bodies.Bytes(), p[:]), "a span names a transaction's pseudonym")
		}
	}
	require.NotContains(t, seen.bodies.String(), "trace-me")
}
