package bus_test

import (
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
// That one led before, takes itself for the leader, and is whom the client asks for leaders, until wakeUp.
func formerLeader(t *testing.T) (c *bus.Client, wakeUp func()) {
	t.Helper()
	const former, leader, epochThen, endThen = int32(0), int32(1), int32(0), int64(1)
	cfg := bus.At()
	cfg.FetchWait = 10 * time.Millisecond
	topic := cfg.Name(bus.Labels)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.SeedTopics(1, topic))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	require.NoError(t, cluster.MoveTopicPartition(topic, 0, leader))
	cfg.Brokers = cluster.ListenAddrs()[:1]
	b := broker{config: cfg}
	require.NoError(t, client(t, b, nil).Write(t.Context(), bus.Labels,
		[]ingest.Outgoing{pinned("a", "1", 0), pinned("b", "2", 0)}))

	var awake atomic.Bool
	cluster.Control(func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if cluster.CurrentNode() != former || awake.Load() {
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
	c, wakeUp := formerLeader(t)
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 2})
	written := make(chan error, 1)
	time.AfterFunc(1500*time.Millisecond, func() {
		wakeUp()
		written <- c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("c", "3", 0)})
	})
	require.Equal(t, []string{"c"}, keys(next(t, follow).Records))
	require.NoError(t, <-written)
}

// Nor is it to whoever asks how far others have written, and to whoever reads all of a topic.
func TestWhoLedBeforeHidesNoRecords(t *testing.T) {
	c, wakeUp := formerLeader(t)
	time.AfterFunc(500*time.Millisecond, wakeUp)
	ends, err := c.EndOffsets(t.Context(), bus.Labels)
	require.NoError(t, err)
	require.Equal(t, []int64{2}, ends)

	c, wakeUp = formerLeader(t)
	time.AfterFunc(500*time.Millisecond, wakeUp)
	var all []string
	require.NoError(t, c.ReadAll(t.Context(), bus.Labels, func(rec ingest.Record) error {
		all = append(all, string(rec.Key))
		return nil
	}))
	require.Equal(t, []string{"a", "b"}, all)
}
