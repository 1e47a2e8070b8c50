package bus_test

import (
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// crowded starts a broker that makes topics for whoever asks for them with the right to. It has some of lethe's topics
// and one of somebody else.
func crowded(t *testing.T, topics ...bus.Topic) (*kfake.Cluster, broker) {
	t.Helper()
	cfg := bus.At()
	seeds := []string{"somebody.else"}
	for _, topic := range topics {
		seeds = append(seeds, cfg.Name(topic))
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.AllowAutoTopicCreation(), kfake.SeedTopics(1, seeds...))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	cfg.Brokers = cluster.ListenAddrs()
	return cluster, broker{config: cfg}
}

// A cluster may have thousands of topics of others: lethe asks for its own, by name, makes none by asking, and finds
// those that are made later.
func TestBrokersAreAskedForLethesTopicsAlone(t *testing.T) {
	cluster, b := crowded(t, bus.Labels)
	var mu sync.Mutex
	var asked []*kmsg.MetadataRequest
	cluster.ControlKey(int16(kmsg.Metadata), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, req.(*kmsg.MetadataRequest))
		return nil, nil, false
	})
	c := client(t, b, nil)
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 0, {Topic: bus.Receipts}: 0})
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)}))
	require.Equal(t, []string{"a"}, keys(next(t, follow).Records))
	_, err := c.EndOffsets(t.Context(), bus.Receipts)
	require.ErrorIs(t, err, bus.ErrUnknownTopic)

	var wanted []string
	for _, topic := range bus.Topics() {
		wanted = append(wanted, c.Name(topic))
	}
	mu.Lock()
	whole := 0
	for _, req := range asked {
		require.NotNil(t, req.Topics, "that asks for all topics of the cluster")
		require.False(t, req.AllowAutoTopicCreation)
		for _, topic := range req.Topics {
			require.Contains(t, wanted, *topic.Topic)
		}
		if len(req.Topics) == len(wanted) {
			whole++
		}
	}
	mu.Unlock()
	require.GreaterOrEqual(t, whole, 2, "the client asks, and its tail")

	raw := &kafka.Client{Addr: kafka.TCP(b.config.Brokers...), Transport: &kafka.Transport{}}
	defer raw.Transport.(*kafka.Transport).CloseIdleConnections()
	_, err = raw.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: c.Name(bus.Receipts), NumPartitions: 1, ReplicationFactor: 1}},
	})
	require.NoError(t, err)
	require.NoError(t, c.Write(t.Context(), bus.Receipts, []ingest.Outgoing{pinned("b", "1", 0)}))
	require.Equal(t, []string{"b"}, keys(next(t, follow).Records))
	there, err := raw.Metadata(t.Context(), &kafka.MetadataRequest{})
	require.NoError(t, err)
	require.Len(t, there.Topics, 3)
}

// Brokers learn of new topics one after the other. Once Apply is done, the client that made them need not wait until
// its transport looks again.
func TestWhatIsAppliedIsKnownAtOnce(t *testing.T) {
	cluster, b := crowded(t)
	var created, shown atomic.Bool
	var single atomic.Int64
	cluster.Control(func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		switch req := asked.(type) {
		case *kmsg.CreateTopicsRequest:
			created.Store(true)
		case *kmsg.MetadataRequest:
			if len(req.Topics) == 1 { // the transport asks for all of them, as Apply does
				single.Add(1)
			}
			if req.Version >= 10 { // Apply asks past the transport
				shown.Store(created.Load())
			} else if !shown.Load() {
				return knowsNone(t, cluster, req), nil, true
			}
		}
		return nil, nil, false
	})
	c := client(t, b, nil)
	require.NoError(t, c.Admin().Apply(t.Context()))
	single.Store(0)
	for _, topic := range bus.Topics() {
		_, err := c.Partitions(t.Context(), topic)
		require.NoError(t, err)
	}
	require.Zero(t, single.Load(), "a broker is asked for what the transport does not know")
}

// knowsNone is what a broker answers that has not heard of the topics yet.
func knowsNone(t *testing.T, cluster *kfake.Cluster, req *kmsg.MetadataRequest) kmsg.Response {
	t.Helper()
	const unknown = 3
	host, port, err := net.SplitHostPort(cluster.ListenAddrs()[0])
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	answer := req.ResponseKind().(*kmsg.MetadataResponse)
	answer.Brokers = []kmsg.MetadataResponseBroker{{Host: host, Port: int32(number)}}
	for _, asked := range req.Topics {
		answer.Topics = append(answer.Topics, kmsg.MetadataResponseTopic{Topic: asked.Topic, ErrorCode: unknown})
	}
	return answer
}

// countFetches counts the fetches that a broker gets.
func countFetches(cluster *kfake.Cluster) *atomic.Int64 {
	var n atomic.Int64
	cluster.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		n.Add(1)
		return nil, nil, false
	})
	return &n
}

// Where nothing happens brokers are asked less than once a second for each partition.
func TestAnIdleTailAsksSeldom(t *testing.T) {
	cluster, b := crowded(t, bus.Labels)
	fetches := countFetches(cluster)
	began := time.Now()
	tail(t, client(t, b, nil), map[bus.TopicPartition]int64{labels0: 0})
	require.Eventually(t, func() bool { return fetches.Load() > 0 }, 10*time.Second, time.Millisecond)
	time.Sleep(3 * time.Second)
	require.LessOrEqual(t, fetches.Load(), 1+int64(time.Since(began)/time.Second))
}

// However long brokers hold what finds nothing, it is not broken off, and nobody waits for that: not who reads to the
// end, nor for a record that comes, nor to close.
func TestNobodyWaitsForFetchesThatAreHeld(t *testing.T) {
	cluster, b := crowded(t, bus.Labels)
	fetches := countFetches(cluster)
	began := time.Now()
	c := client(t, b, func(cfg *bus.Config) {
		cfg.FetchWait, cfg.RequestTimeout = time.Minute, 500*time.Millisecond
	})
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 0})
	require.Eventually(t, func() bool { return fetches.Load() > 0 }, 10*time.Second, time.Millisecond)
	time.Sleep(time.Second) // longer than other requests may take
	require.EqualValues(t, 1, fetches.Load())
	for _, key := range []string{"a", "b"} {
		require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned(key, "1", 0)}))
		require.Equal(t, []string{key}, keys(next(t, follow).Records))
	}
	var read []ingest.Record
	require.NoError(t, c.ReadAll(t.Context(), bus.Labels, func(rec ingest.Record) error {
		read = append(read, rec)
		return nil
	}))
	require.Equal(t, []string{"a", "b"}, keys(read))
	held, err := c.Holds(t.Context(), labels0, 1)
	require.NoError(t, err)
	require.True(t, held)
	require.NoError(t, follow.Close())
	require.Less(t, time.Since(began), 30*time.Second)
}

// A broker that hangs is noticed as soon, however long it may hold a fetch, up to half of what a request may take.
func TestHoldingAFetchIsPartOfItsTime(t *testing.T) {
	cfg := bus.Defaults()
	require.Equal(t, cfg.RequestTimeout, bus.FetchLimit(cfg))
	cfg.FetchWait = cfg.RequestTimeout
	require.Equal(t, cfg.RequestTimeout*3/2, bus.FetchLimit(cfg))
}
