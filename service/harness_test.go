package service_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/metrics/events"
	"lethe/service"
	"lethe/trainer"
)

// smallConfig is a deployment that trains in a moment: few shards with one narrow
// network each and a short window. The secret is fixed so that runs can be compared.
func smallConfig(t testing.TB, dir string) configs.Config {
	t.Helper()
	return small(t, configs.PerShard(), dir)
}

// smallDefault is the default configuration on as little as smallConfig.
func smallDefault(t testing.TB, dir string) configs.Config {
	t.Helper()
	return small(t, configs.Default(), dir)
}

// smallStack is smallDefault with a network per shard in the ensemble: every kind of model.
func smallStack(t testing.TB, dir string) configs.Config {
	t.Helper()
	c := smallDefault(t, dir)
	c.Trainer.Components = append([]string{trainer.Defaults().Model}, c.Trainer.Components...)
	return c
}

func small(t testing.TB, c configs.Config, dir string) configs.Config {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	_, err := configs.LoadOrCreateSecret(secret, zeroReader{})
	require.NoError(t, err)
	c.DataDir = dir
	c.SecretFile = secret
	c.HTTP.Address = "127.0.0.1:0"
	c.Embedded.Port = 0
	c.Embedded.CleanInterval = 100 * time.Millisecond
	c.Kafka.Partitions = 2
	c.Partition.Shards = 4
	c.Trainer.Hidden = 8
	c.Trainer.WindowTimesteps = 3
	c.Trainer.Passes = 1
	c.Erasure.VerifyTimeout = 30 * time.Second
	return c
}

// What a test waits for that no status shows.
const (
	waitFor = 60 * time.Second
	tick    = 100 * time.Millisecond
)

// fixedTime is when requests of the tests were made.
var fixedTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// zeroReader makes keys that are the same in every test.
type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i + 1)
	}
	return len(p), nil
}

// smallStream is generated, with few features.
func smallStream(t testing.TB, steps, nodes int, seed uint64) *dataset.Stream {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = steps, nodes, 12, seed
	s, err := dataset.Generate(options)
	require.NoError(t, err)
	return s
}

// running is a service that runs until stop.
type running struct {
	*service.Service
	t    testing.TB
	stop func()
	seen *tally
}

// tally counts what the service tells its listener.
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

// consumed returns how many records had a result since the service started.
func (c *tally) consumed(r events.Result) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.results[r]
}

// start runs a service; stop ends it and checks that it ended well.
func start(t testing.TB, c configs.Config) *running {
	t.Helper()
	return startAt(t, c, nil)
}

// startAt is start with a clock, or that of the machine if it is nil.
func startAt(t testing.TB, c configs.Config, now func() time.Time) *running {
	t.Helper()
	level := slog.LevelWarn
	if testing.Verbose() {
		level = slog.LevelInfo
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	seen := &tally{results: make(map[events.Result]int)}
	s, err := service.New(t.Context(), service.Options{
		Config: c, Version: "test", Random: zeroReader{}, Logger: log, Listener: seen.listener(), Now: now,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stopped := false
	r := &running{Service: s, t: t, seen: seen}
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, s.Close())
	}
	t.Cleanup(r.stop)
	return r
}

// replay publishes the stream and waits until it is trained through.
func (r *running) replay(s *dataset.Stream) *service.Status {
	r.t.Helper()
	_, err := service.Replay(r.t.Context(), r.Client(), s, service.ReplayOptions{})
	require.NoError(r.t, err)
	_, last := s.Range()
	return r.await(func(st *service.Status) bool { return st.TrainedThrough == last && st.LagRecords == 0 })
}

// await polls the status until it is as wanted. A broker that is slow for a moment, as one
// that compacts its log, only leaves the lag unknown.
func (r *running) await(want func(*service.Status) bool) *service.Status {
	r.t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for {
		st, err := r.Status(r.t.Context())
		if want(st) {
			return st
		}
		require.True(r.t, time.Now().Before(deadline), "the service did not get there in time: %+v, %v", st, err)
		time.Sleep(20 * time.Millisecond)
	}
}

// labelledIllicit returns the ids of labelled illicit transactions of a
// timestep.
func labelledIllicit(s *dataset.Stream, t lethe.Timestep) []lethe.TransactionID {
	var out []lethe.TransactionID
	for _, step := range s.Steps {
		if step.Timestep != t {
			continue
		}
		for _, l := range step.Labels {
			if l.Label == lethe.Illicit {
				out = append(out, l.ID)
			}
		}
	}
	return out
}
