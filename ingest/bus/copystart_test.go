package bus_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// A broker that follows may have removed more of a log than the leader, by a retention that was set wrong for a while:
// each removes in its own time. What its copy has is read, and what it has no more is not waited for. One that has
// not come as far as the leader is.
func TestACopyThatBeginsBehindTheLeadersIsReadFromThere(t *testing.T) {
	const leader, follows, outside = int32(0), int32(1), int16(1)
	cfg := bus.At()
	cfg.FetchWait = 10 * time.Millisecond
	topic := cfg.Name(bus.Labels)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.SeedTopics(1, topic))
	require.NoError(t, err)
	defer cluster.Close()
	require.NoError(t, cluster.MoveTopicPartition(topic, 0, leader))
	cluster.SetFollowers(topic, 0, []int32{follows})
	cfg.Brokers = cluster.ListenAddrs()
	c, err := bus.OpenPatient(cfg, new(watched).watch)
	require.NoError(t, err)
	defer c.Close()
	for _, key := range []string{"a", "b", "c"} {
		require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned(key, "1", 0)}))
	}
	var behind atomic.Bool
	var doubted atomic.Int64
	cluster.ControlKey(int16(kmsg.Fetch), func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		req := asked.(*kmsg.FetchRequest)
		at := req.Topics[0].Partitions[0].FetchOffset
		switch {
		case cluster.CurrentNode() != follows:
			return nil, nil, false
		case at < 2, behind.Load():
			doubted.Add(1)
			return refuse(req, outside), nil, true
		case at == 2:
			return nil, nil, false
		}
		answer := fetched(req, -1).(*kmsg.FetchResponse)
		p := &answer.Topics[0].Partitions[0]
		p.LogStartOffset, p.LastStableOffset, p.HighWatermark = 2, 3, 3
		return answer, nil, true
	})
	read := func(ctx context.Context) (of map[int32]string, err error) {
		of = make(map[int32]string)
		_, err = c.ReadCopies(ctx, bus.Labels, func(broker int32, rec ingest.Record) error {
			of[broker] += string(rec.Key)
			return nil
		}, nil)
		return of, err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got, err := read(ctx)
	require.NoError(t, err)
	require.Equal(t, map[int32]string{leader: "abc", follows: "c"}, got)

	behind.Store(true)
	doubted.Store(0)
	done := make(chan error, 1)
	go func() {
		_, err := read(ctx)
		done <- err
	}()
	require.Eventually(t, func() bool { return doubted.Load() > 4 }, 10*time.Second, time.Millisecond)
	require.Empty(t, done, "it is waited for")
	behind.Store(false)
	require.NoError(t, <-done)
}
