package bus_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

func TestUnreachableBrokerIsNamedWithItsCause(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	cfg := bus.At(address)
	cfg.DialTimeout = 3 * time.Second // a refusal takes no time, but a busy machine does
	c, err := bus.Open(cfg)
	require.NoError(t, err)
	defer c.Close()

	began := time.Now()
	follow := tail(t, c, map[bus.TopicPartition]int64{{Topic: bus.Labels}: 0})
	_, checkErr := c.Admin().Check(t.Context())
	_, tailErr := follow.Next(t.Context())
	for what, err := range map[string]error{
		"ping":  c.Ping(t.Context()),
		"check": checkErr,
		"tail":  tailErr,
		"apply": c.Admin().Apply(t.Context()),
		"write": c.Write(t.Context(), bus.Labels, numbered(1)),
		"read":  c.ReadAll(t.Context(), bus.Labels, func(ingest.Record) error { return nil }),
	} {
		require.ErrorIs(t, err, bus.ErrBrokerUnreachable, what)
		require.ErrorContains(t, err, address, what)
		require.ErrorContains(t, err, "connection refused", what)
	}
	require.Less(t, time.Since(began), 5*time.Second)
}

// A listener that never answers is as unreachable as none.
func TestSilentBrokerIsUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	cfg := bus.At(l.Addr().String())
	cfg.DialTimeout = 100 * time.Millisecond
	c, err := bus.Open(cfg)
	require.NoError(t, err)
	defer c.Close()
	require.ErrorIs(t, c.Ping(t.Context()), bus.ErrBrokerUnreachable)
}

// Writers and tails outlive a broker's restart.
func TestBrokerRestart(t *testing.T) {
	dir := t.TempDir()
	b, err := embedded.Start(dir, embedded.Config{CleanInterval: time.Second}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	c := client(t, broker{config: b.Config()}, nil)
	require.NoError(t, c.Admin().Apply(t.Context()))
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 0})
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)}))
	require.Equal(t, []string{"a"}, keys(next(t, follow).Records))

	require.NoError(t, b.Close())
	written := make(chan error, 1)
	go func() { written <- c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("b", "1", 0)}) }()
	time.Sleep(100 * time.Millisecond)
	_, portText, err := net.SplitHostPort(b.Config().Brokers[0])
	require.NoError(t, err)
	port, err := strconv.Atoi(portText)
	require.NoError(t, err)
	again, err := embedded.Start(dir, embedded.Config{Port: port, CleanInterval: time.Second},
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer again.Close()
	require.NoError(t, <-written)
	require.Equal(t, []string{"b"}, keys(next(t, follow).Records))
}

// A goroutine of a role that ends may still ask when its client is closed. That
// must fail, and must not start the transport's background work again, which
// TestMain would find.
func TestACallAfterCloseLeavesNothingBehind(t *testing.T) {
	b := startBroker(t)
	c, err := bus.Open(b.config)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = c.Partitions(ctx, bus.Transactions)
	require.Error(t, err)
}

// besideAHung is the configuration of a broker behind one that takes connections and never answers, as one does that
// hangs.
func besideAHung(t *testing.T, b broker) bus.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	cfg := b.config.Clone()
	cfg.Brokers = slices.Insert(cfg.Brokers, 0, l.Addr().String())
	cfg.DialTimeout = 10 * time.Second
	return cfg
}

// A client that begins while one of the brokers hangs does not give that one all the time there is for connecting. Ten
// of them, or it would depend on which broker is asked first.
func TestABrokerThatHangsHoldsNoNewClientUp(t *testing.T) {
	b, known := open(t, nil)
	cfg := besideAHung(t, b)
	began := time.Now()
	var all errgroup.Group
	for range 10 {
		all.Go(func() error {
			c, err := bus.Open(cfg)
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err := c.Admin().Check(t.Context()); err != nil {
				return err
			}
			return c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)})
		})
	}
	require.NoError(t, all.Wait())
	require.Less(t, time.Since(began), cfg.DialTimeout/2)
	ends, err := known.EndOffsets(t.Context(), bus.Labels)
	require.NoError(t, err)
	require.Equal(t, int64(10), ends[0])
}

// Nor does it hold up a process that is to share work: its first broker would be asked who coordinates the group for as
// long as it hangs.
func TestABrokerThatHangsHoldsNoGroupUp(t *testing.T) {
	b, _ := open(t, nil)
	c, err := bus.Open(besideAHung(t, b))
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	assigned := make(chan bus.Assigned, 8)
	ended := make(chan error, 1)
	go func() {
		ended <- bus.Sharer{Client: c}.Share(ctx, bus.GroupConfig{Name: "train", Topic: bus.Slices}, bus.Member{
			Assigned:  func(a bus.Assigned) { assigned <- a },
			Positions: func() map[bus.TopicPartition]int64 { return nil },
			Trouble:   func(err error) { t.Log(err) },
		})
	}()
	select {
	case a := <-assigned:
		require.NotEmpty(t, a.Partitions)
	case <-ctx.Done():
		t.Error("nothing was assigned")
	}
	cancel()
	require.NoError(t, <-ended)
}

// A partition may be out of reach while brokers answer: its leader is away, or is
// only just back. The tail says so as of something that passes, and goes on.
func TestATailOutlastsALeader(t *testing.T) {
	cfg := bus.At()
	cfg.DialTimeout = 100 * time.Millisecond
	cluster := fakeCluster(t, &cfg, 1)
	var away atomic.Bool
	cluster.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		return nil, errors.New("away"), away.Load()
	})
	c := client(t, broker{config: cfg}, nil)
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 0})
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)}))
	require.Equal(t, []string{"a"}, keys(next(t, follow).Records))

	away.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 3 {
		_, err := follow.Next(ctx)
		require.ErrorIs(t, err, bus.ErrInterrupted)
		require.NotErrorIs(t, err, bus.ErrBrokerUnreachable)
	}
	away.Store(false)
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("b", "1", 0)}))
	for {
		batch, err := follow.Next(ctx)
		if err == nil {
			require.Equal(t, []string{"b"}, keys(batch.Records))
			return
		}
		require.ErrorIs(t, err, bus.ErrInterrupted)
	}
}
