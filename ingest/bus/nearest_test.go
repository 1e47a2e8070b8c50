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

// Who says in which rack it is follows a partition from the broker that the leader names, and from the leader
// once that one cannot be read.
func TestATailReadsTheBrokerOfItsRack(t *testing.T) {
	const leader, near = int32(0), int32(1)
	cfg := bus.At()
	cfg.Rack = "near"
	cfg.FetchWait = 10 * time.Millisecond
	topic := cfg.Name(bus.Labels)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.SeedTopics(1, topic))
	require.NoError(t, err)
	defer cluster.Close()
	require.NoError(t, cluster.MoveTopicPartition(topic, 0, leader))
	cfg.Brokers = cluster.ListenAddrs()
	c := client(t, broker{config: cfg}, nil)
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)}))

	var away atomic.Bool
	var named, nearer, afterwards atomic.Int64
	cluster.ControlKey(int16(kmsg.Fetch), func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		req, at := asked.(*kmsg.FetchRequest), cluster.CurrentNode()
		switch {
		case req.Rack == cfg.Rack && at == leader:
			named.Add(1)
			return fetched(req, near), nil, true
		case at == near && away.Load():
			return nil, errors.New("away"), true
		case at == near: // it has copied nothing yet
			nearer.Add(1)
			return fetched(req, -1), nil, true
		}
		afterwards.Add(1)
		return nil, nil, false
	})
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 0})
	require.Eventually(t, func() bool { return nearer.Load() > 3 }, 10*time.Second, time.Millisecond)
	require.EqualValues(t, 1, named.Load(), "the leader is asked once")
	require.Zero(t, afterwards.Load())

	away.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		batch, err := follow.Next(ctx)
		if errors.Is(err, bus.ErrInterrupted) {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, keys(batch.Records))
		break
	}
	require.EqualValues(t, 1, named.Load(), "for a while it is not asked again who is near")
	require.Positive(t, afterwards.Load())
}

// fetched is an answer without records that names a broker which is nearer to the reader, or -1.
func fetched(req *kmsg.FetchRequest, broker int32) kmsg.Response {
	answer := req.ResponseKind().(*kmsg.FetchResponse)
	partition := kmsg.NewFetchResponseTopicPartition()
	partition.PreferredReadReplica = broker
	of := kmsg.NewFetchResponseTopic()
	of.Topic, of.Partitions = req.Topics[0].Topic, append(of.Partitions, partition)
	answer.Topics = append(answer.Topics, of)
	return answer
}
