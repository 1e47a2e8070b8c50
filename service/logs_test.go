package service_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
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
	config := servicetest.SmallConfig(t, t.TempDir())
	var log logged
	s, err := service.New(t.Context(), service.Options{
		Config: config, Version: "test", Random: servicetest.Zeros{},
		Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: timeless})),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	r := &running{&servicetest.Running{Service: s, T: t}}
	r.Replay(stream)

	const refused = "refused-4711"
	require.NoError(t, s.Client().Write(t.Context(), bus.Transactions, []ingest.Outgoing{
		{Key: []byte(refused), Value: []byte(`{"type":"transaction","id":"` + refused + `","timestep":"soon"}`)},
		{Key: []byte(refused), Value: []byte(`{"type":"transaction","id":"another","timestep":1,"features":[1]}`)},
	}))
	c := r.caller(t)
	erased := servicetest.LabelledIllicit(stream, 3)[0]
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, "/transactions/lookup",
		map[string]any{"ids": []string{string(erased)}}, nil))
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, "/erasures",
		api.ErasureRequest{RequestID: "logs", Nodes: []string{string(erased)}, Reason: "a reason-4712"}, nil))
	require.Equal(t, deletions.Verified, r.Outcome("logs"))
	r.Await(func(*service.Status) bool { return len(r.deadLetters()) > 0 })
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, s.Close())

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
