package service_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/metrics/events"
	"lethe/service/servicetest"
)

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
