package bus_test

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
