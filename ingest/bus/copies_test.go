package bus_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	cluster := fakeCluster(t, &cfg, 2)
	require.NoError(t, cluster.MoveTopicPartition(topic, 0, leader))
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
	partition := kmsg.NewFetchResponseTopicPartition()
	partition.PreferredReadReplica = broker
	return answerOf(req, partition)
}

// answerOf is an answer of one partition.
func answerOf(req *kmsg.FetchRequest, partition kmsg.FetchResponseTopicPartition) kmsg.Response {
	answer := req.ResponseKind().(*kmsg.FetchResponse)
	of := kmsg.NewFetchResponseTopic()
	of.Topic, of.Partitions = req.Topics[0].Topic, append(of.Partitions, partition)
	answer.Topics = append(answer.Topics, of)
	return answer
}

// A broker that follows may have removed more of a log than the leader, by a retention that was set wrong for a while:
// each removes in its own time. What its copy has is read, and what it has no more is not waited for. One that has
// not come as far as the leader is.
func TestACopyThatBeginsBehindTheLeadersIsReadFromThere(t *testing.T) {
	const leader, follows, outside = int32(0), int32(1), int16(1)
	cfg := bus.At()
	cfg.FetchWait = 10 * time.Millisecond
	topic := cfg.Name(bus.Labels)
	cluster := fakeCluster(t, &cfg, 2)
	require.NoError(t, cluster.MoveTopicPartition(topic, 0, leader))
	cluster.SetFollowers(topic, 0, []int32{follows})
	c := patientClient(t, cfg, new(watched))
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
