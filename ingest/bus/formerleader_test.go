package bus_test

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// formerLeader starts two brokers. The second one leads labels.v1, of which it has one record more than the first.
// That one led before, takes itself for the leader, and is whom the client asks for leaders, until wakeUp. Whether the
// second one says that it leads is up to silent.
func formerLeader(t *testing.T, silent bool, change func(*bus.Config)) (c *bus.Client, wakeUp func()) {
	t.Helper()
	const former, leader, epochThen, endThen = int32(0), int32(1), int32(0), int64(1)
	cfg := bus.At()
	cfg.FetchWait = 10 * time.Millisecond
	if change != nil {
		change(&cfg)
	}
	topic := cfg.Name(bus.Labels)
	cluster := fakeCluster(t, &cfg, 2)
	require.NoError(t, cluster.MoveTopicPartition(topic, 0, leader))
	cfg.Brokers = cfg.Brokers[:1]
	b := broker{config: cfg}
	require.NoError(t, client(t, b, nil).Write(t.Context(), bus.Labels,
		[]ingest.Outgoing{pinned("a", "1", 0), pinned("b", "2", 0)}))

	var awake atomic.Bool
	cluster.Control(func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		_, asksForLeaders := asked.(*kmsg.MetadataRequest)
		switch {
		case awake.Load():
			return nil, nil, false
		case cluster.CurrentNode() == former:
		case asksForLeaders && silent:
			return nil, errors.New("away"), true
		default:
			return nil, nil, false
		}
		switch req := asked.(type) {
		case *kmsg.MetadataRequest:
			return leads(cluster, req, topic, former, epochThen), nil, true
		case *kmsg.FetchRequest:
			if req.Topics[0].Partitions[0].FetchOffset > endThen {
				return refuse(req, kerr.OffsetOutOfRange.Code), nil, true
			}
			return fetched(req, -1), nil, true
		case *kmsg.ListOffsetsRequest:
			p := req.Topics[0].Partitions[0]
			if p.CurrentLeaderEpoch > epochThen {
				return refuse(req, kerr.UnknownLeaderEpoch.Code), nil, true
			}
			answer := refuse(req, 0).(*kmsg.ListOffsetsResponse)
			answer.Topics[0].Partitions[0].Offset = endThen
			if p.Timestamp == -2 {
				answer.Topics[0].Partitions[0].Offset = 0
			}
			return answer, nil, true
		}
		return nil, nil, false
	})
	return client(t, b, nil), func() { awake.Store(true) }
}

// leads is metadata in which a broker leads the topic's only partition.
func leads(cluster *kfake.Cluster, req *kmsg.MetadataRequest, topic string, broker, epoch int32) kmsg.Response {
	answer := req.ResponseKind().(*kmsg.MetadataResponse)
	for node, address := range cluster.ListenAddrs() {
		at := netip.MustParseAddrPort(address)
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port = int32(node), at.Addr().String(), int32(at.Port())
		answer.Brokers = append(answer.Brokers, b)
	}
	p := kmsg.NewMetadataResponseTopicPartition()
	p.Leader, p.LeaderEpoch, p.Replicas = broker, epoch, []int32{0, 1}
	of := kmsg.NewMetadataResponseTopic()
	of.Topic, of.Partitions = &topic, append(of.Partitions, p)
	answer.Topics = append(answer.Topics, of)
	return answer
}

// A broker that hung while another one was made leader takes itself for the leader for some seconds after it went on.
// What it says of the log's end is not believed: to a reader that is behind that end the topic would be another one.
func TestWhoLedBeforeIsNotBelievedAboutTheEndOfALog(t *testing.T) {
	c, wakeUp := formerLeader(t, false, nil)
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 2})
	written := make(chan error, 1)
	time.AfterFunc(1500*time.Millisecond, func() {
		wakeUp()
		written <- c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("c", "3", 0)})
	})
	require.Equal(t, []string{"c"}, keys(next(t, follow).Records))
	require.NoError(t, <-written)
}

// While the broker that leads does not say so, it is waited for.
func TestWhereTheLogEndsIsDoubtedWhileBrokersAreSilent(t *testing.T) {
	c, wakeUp := formerLeader(t, true, nil)
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 2})
	time.AfterFunc(1500*time.Millisecond, wakeUp)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := follow.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded, "there is nothing new, and nothing wrong")
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("c", "3", 0)}))
	require.Equal(t, []string{"c"}, keys(next(t, follow).Records))

	// But not for ever: the topic may be another one.
	c, _ = formerLeader(t, true, func(cfg *bus.Config) { cfg.DialTimeout = 50 * time.Millisecond })
	follow = tail(t, c, map[bus.TopicPartition]int64{labels0: 2})
	began := time.Now()
	for err = bus.ErrInterrupted; errors.Is(err, bus.ErrInterrupted); {
		_, err = follow.Next(t.Context())
	}
	require.ErrorIs(t, err, bus.ErrPastEnd)
	require.Greater(t, time.Since(began), 6*50*time.Millisecond)
}

// A topic that is made anew has a leader of an epoch below that of before, which a broker may still tell.
func TestAnEpochThatNobodyLeadsInIsNotWaitedForForEver(t *testing.T) {
	cfg := bus.At()
	cfg.DialTimeout = 100 * time.Millisecond
	topic := cfg.Name(bus.Labels)
	cluster := fakeCluster(t, &cfg, 2)
	require.NoError(t, cluster.MoveTopicPartition(topic, 0, 1))
	cfg.Brokers = cfg.Brokers[1:]
	require.NoError(t, client(t, broker{config: cfg}, nil).Write(t.Context(), bus.Labels,
		[]ingest.Outgoing{pinned("a", "1", 0)}))
	cluster.ControlKey(int16(kmsg.Metadata), func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if cluster.CurrentNode() != 0 {
			return nil, nil, false
		}
		return leads(cluster, asked.(*kmsg.MetadataRequest), topic, 0, 50), nil, true
	})
	c := patientClient(t, cfg, new(watched))
	ends, err := c.EndOffsets(t.Context(), bus.Labels)
	require.NoError(t, err)
	require.Equal(t, []int64{1}, ends)
}

// Neither is it believed by whoever asks how far others have written, nor by whoever reads all of a topic.
func TestWhoLedBeforeHidesNoRecords(t *testing.T) {
	c, wakeUp := formerLeader(t, false, nil)
	time.AfterFunc(500*time.Millisecond, wakeUp)
	ends, err := c.EndOffsets(t.Context(), bus.Labels)
	require.NoError(t, err)
	require.Equal(t, []int64{2}, ends)

	c, wakeUp = formerLeader(t, false, nil)
	time.AfterFunc(500*time.Millisecond, wakeUp)
	require.Equal(t, []string{"a", "b"}, keys(recordsOf(t, c, bus.Labels)))
}
