package servicetest

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/dataset"
	"lethe/metrics/events"
	"lethe/service"
)

// How long, and how often, a test looks for what no status shows.
const (
	WaitFor = 60 * time.Second
	Tick    = 100 * time.Millisecond
)

// Running is a service that runs until Stop.
type Running struct {
	*service.Service
	T    testing.TB
	Stop func()
	seen *tally
}

// tally counts consumed records by their results.
type tally struct {
	mu      sync.Mutex
	results map[events.Result]int
}

func (c *tally) listener() events.Listener {
	return events.Listener{
		RecordsConsumed: func(e events.RecordsConsumed) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.results[e.Result] += e.Count
		},
	}
}

// Consumed returns how many records had a result since the service started.
func (r *Running) Consumed(result events.Result) int {
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	return r.seen.results[result]
}

// Start runs a service; Stop ends it and checks that it ended well.
func Start(t testing.TB, c configs.Config) *Running {
	t.Helper()
	return StartAt(t, c, nil)
}

// StartAt is Start with a clock, or that of the machine if it is nil.
func StartAt(t testing.TB, c configs.Config, now func() time.Time) *Running {
	t.Helper()
	level := slog.LevelWarn
	if testing.Verbose() {
		level = slog.LevelInfo
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	seen := &tally{results: make(map[events.Result]int)}
	s, err := service.New(t.Context(), service.Options{
		Config: c, Version: "test", Random: Zeros{}, Logger: log, Listener: seen.listener(), Now: now,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stopped := false
	r := &Running{Service: s, T: t, seen: seen}
	r.Stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, s.Close())
	}
	t.Cleanup(r.Stop)
	return r
}

// Replay publishes the stream and waits until it is trained through.
func (r *Running) Replay(s *dataset.Stream) *service.Status {
	r.T.Helper()
	_, err := service.Replay(r.T.Context(), r.Client(), s, service.ReplayOptions{})
	require.NoError(r.T, err)
	_, last := s.Range()
	return r.Await(func(st *service.Status) bool { return st.TrainedThrough == last && st.LagRecords == 0 })
}

// Await polls the status until it is as wanted. A broker that is slow for a moment, as one
// that compacts its log, only leaves the lag unknown.
func (r *Running) Await(want func(*service.Status) bool) *service.Status {
	r.T.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for {
		st, err := r.Status(r.T.Context())
		if want(st) {
			return st
		}
		require.True(r.T, time.Now().Before(deadline), "the service did not get there in time: %+v, %v", st, err)
		time.Sleep(20 * time.Millisecond)
	}
}

// Quiet waits until everything that was sent has been read.
func (r *Running) Quiet() *service.Status {
	r.T.Helper()
	return r.Await(func(st *service.Status) bool { return st.LagRecords == 0 })
}

// ReplayAgain publishes records a second time and waits until they are read.
func (r *Running) ReplayAgain(s *dataset.Stream) {
	r.T.Helper()
	_, err := service.Replay(r.T.Context(), r.Client(), s, service.ReplayOptions{})
	require.NoError(r.T, err)
	r.Quiet()
}
