package bus_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// A partition may be out of reach while brokers answer: its leader is away, or is
// only just back. The tail says so as of something that passes, and goes on.
func TestATailOutlastsALeader(t *testing.T) {
	cfg := bus.At()
	cfg.DialTimeout = 100 * time.Millisecond
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, cfg.TopicPrefix+string(bus.Labels)))
	require.NoError(t, err)
	defer cluster.Close()
	var away atomic.Bool
	cluster.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		return nil, errors.New("away"), away.Load()
	})
	cfg.Brokers = cluster.ListenAddrs()
	c := client(t, broker{config: cfg}, nil)
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 0})
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)}))
	require.Equal(t, []string{"a"}, keys(next(t, follow).Records))

	away.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 3 {
		_, err = follow.Next(ctx)
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
