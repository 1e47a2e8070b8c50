package servicetest

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/audit"
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
	return events.Tee(
		events.On(func(e events.RecordsConsumed) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.results[e.Result] += e.Count
		}),
	)
}

// Consumed returns how many records had a result since the service started.
func (r *Running) Consumed(result events.Result) int {
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	return r.seen.results[result]
}

// Audited checks a data directory at rest, which must have no problem.
func Audited(t testing.TB, o audit.Options) *audit.Report {
	t.Helper()
	report, err := audit.Check(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	return report
}

// Options are those of a service that logs nothing and whose keys are the same in every test.
func Options(c configs.Config) service.Options {
	return service.Options{Config: c, Version: "test", Random: Zeros{}, Logger: slog.New(slog.DiscardHandler)}
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
	o := Options(c)
	o.Logger, o.Now = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})), now
	return StartWith(t, o)
}

// StartWith is Start with options of its own; its listener is that of Consumed.
func StartWith(t testing.TB, o service.Options) *Running {
	t.Helper()
	seen := &tally{results: make(map[events.Result]int)}
	o.Listener = seen.listener()
	s, err := service.New(t.Context(), o)
	require.NoError(t, err)
	return run(t, s, seen)
}

// Run runs a service that was made; Stop is as that of Start.
func Run(t testing.TB, s *service.Service) *Running {
	t.Helper()
	return run(t, s, nil)
}

func run(t testing.TB, s *service.Service, seen *tally) *Running {
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
