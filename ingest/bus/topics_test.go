package bus_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
)

func TestApplyThenCheckIsClean(t *testing.T) {
	b, c := open(t, nil)
	problems, err := c.Admin().Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)

	for topic, want := range map[bus.Topic]int{bus.Transactions: 4, bus.Slices: 4, bus.Erasures: 1, bus.DeadLetters: 1} {
		got, err := c.Partitions(t.Context(), topic)
		require.NoError(t, err)
		require.Equal(t, want, got, topic)
	}

	other := client(t, b, func(cfg *bus.Config) { cfg.TopicPrefix = "other." })
	problems, err = other.Admin().Check(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, len(bus.Topics()))
	require.Equal(t, "transactions.v1: topic is missing, want present", problems[0].String())
	_, err = other.EndOffsets(t.Context(), bus.Labels)
	require.ErrorIs(t, err, bus.ErrUnknownTopic)
	err = other.Write(t.Context(), bus.Labels, numbered(1))
	require.ErrorIs(t, err, bus.ErrUnknownTopic)
}

func TestApplyCorrectsAndNeverLowers(t *testing.T) {
	b, c := open(t, nil)
	set := func(name, value string) { setTopic(t, b, c.Name(bus.Labels), name, value) }
	set("cleanup.policy", "delete")
	set("delete.retention.ms", "86400000")
	set("message.timestamp.type", "CreateTime")
	set("max.message.bytes", "9999999") // more than needed: fine
	set("segment.bytes", "1048576")     // less than needed: fine
	want := []bus.Problem{
		{Topic: bus.Labels, Setting: "cleanup.policy", Have: "delete", Want: "compact"},
		{Topic: bus.Labels, Setting: "delete.retention.ms", Have: "86400000", Want: "0"},
		{Topic: bus.Labels, Setting: "message.timestamp.type", Have: "CreateTime", Want: "LogAppendTime"},
	}
	// A broker shows a change a moment after it has taken it.
	require.Eventually(t, func() bool {
		problems, err := c.Admin().Check(t.Context())
		return err == nil && slices.Equal(want, problems)
	}, 30*time.Second, 10*time.Millisecond)
	require.NoError(t, c.Admin().Apply(t.Context()))
	problems, err := c.Admin().Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems)

	wide := client(t, b, func(cfg *bus.Config) { cfg.PartitionsOf = map[bus.Topic]int{bus.Labels: 6} })
	problems, err = wide.Admin().Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, []bus.Problem{{Topic: bus.Labels, Setting: "partitions", Have: "4", Want: "6"}}, problems)
	require.NoError(t, wide.Admin().Apply(t.Context()))
	narrow := client(t, b, func(cfg *bus.Config) { cfg.PartitionsOf = map[bus.Topic]int{bus.Labels: 2} })
	require.NoError(t, narrow.Admin().Apply(t.Context()))
	got, err := narrow.Partitions(t.Context(), bus.Labels)
	require.NoError(t, err)
	require.Equal(t, 6, got)
}

// Partitions that are added once there are records lose data, so they are
// not, and nothing else is changed either.
func TestApplyDoesNotGrowTopicsThatHoldRecords(t *testing.T) {
	b, c := open(t, nil)
	require.NoError(t, c.Write(t.Context(), bus.ErasureStatus, numbered(1)))
	wide := client(t, b, func(cfg *bus.Config) { cfg.Partitions = 8 })
	err := wide.Admin().Apply(t.Context())
	require.ErrorIs(t, err, bus.ErrHoldsRecords)
	require.ErrorContains(t, err, "transactions.v1 has 4 partitions, want 8")
	require.ErrorContains(t, err, "erasure-status.v1 holds records")
	counts, err := c.Admin().Partitions(t.Context())
	require.NoError(t, err)
	require.Equal(t, 4, counts[bus.Transactions])
	require.Len(t, counts, len(bus.Topics()))
}

func TestConfigReportsEverythingAtOnce(t *testing.T) {
	_, err := bus.Open(bus.Config{
		Brokers: []string{"a"}, TopicPrefix: "a b", PartitionsOf: map[bus.Topic]int{"nonsense": 1, bus.Labels: -3},
		ReplicationFactor: -2, DialTimeout: -1, MaxBatchBytes: -1, MaxBatchRecords: -1,
	})
	for _, want := range []string{
		`brokers is "a"`, "a b", "nonsense", "-3", "-2", "dial_timeout", "max_batch_bytes", "max_batch_records",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = bus.Open(bus.Defaults())
	require.ErrorContains(t, err, "no broker is named")
}

// The values are those of Kafka's own test of its murmur2
// (clients/src/test/java/org/apache/kafka/common/utils/UtilsTest.java):
// sign bit cleared, modulo the number of partitions.
func TestPartitionIsThatOfJava(t *testing.T) {
	for key, hash := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string": -1486304829, "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		for _, count := range []int{1, 4, 7} {
			require.Equal(t, int(hash&0x7fffffff)%count, bus.PartitionOf([]byte(key), count), "%s of %d", key, count)
		}
	}
}

// Another process that is told the embedded broker's address, or an operator who asks from outside, finds its topics
// as they should be: there requests for erasure stay until they are purged, and lethe has the log cleaned itself.
func TestTheEmbeddedBrokerIsRightForWhoeverAsks(t *testing.T) {
	b, own := open(t, nil)
	if b.embedded == nil {
		t.Skip("LETHE_BROKERS is set")
	}
	outside := client(t, b, func(cfg *bus.Config) { cfg.ErasureRetention = bus.Defaults().ErasureRetention })
	for range 2 {
		problems, err := outside.Admin().Check(t.Context())
		require.NoError(t, err)
		require.Empty(t, problems)
		planned, err := outside.Admin().Plan(t.Context())
		require.NoError(t, err)
		require.Empty(t, planned)
		require.NoError(t, outside.Admin().Apply(t.Context()))
		problems, err = own.Admin().Check(t.Context())
		require.NoError(t, err)
		require.Empty(t, problems)
		require.NoError(t, own.Admin().Delete(t.Context(), bus.Erasures)) // made again by the other one
		require.NoError(t, outside.Admin().Apply(t.Context()))
	}
	pace, err := outside.Admin().Pace(t.Context())
	require.NoError(t, err)
	require.Empty(t, pace)
}
