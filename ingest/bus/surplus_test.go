package bus_test

import (
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
)

// Brokers that create topics by themselves give them as many partitions as they think right. One that has to have one
// partition is read out of order with more, and nobody waits for the others: it is a difference, apply mends the rest
// and says that it cannot mend this.
func TestATopicOfOnePartitionHasNoMore(t *testing.T) {
	b, c := open(t, nil)
	other := client(t, b, func(cfg *bus.Config) { cfg.TopicPrefix = "other." })
	made, err := b.raw(t).CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: other.Name(bus.Control), NumPartitions: 3, ReplicationFactor: 1},
		{Topic: other.Name(bus.Transactions), NumPartitions: 9, ReplicationFactor: 1},
	}})
	require.NoError(t, err)
	require.NoError(t, made.Errors[other.Name(bus.Control)])

	err = other.Admin().Apply(t.Context())
	require.ErrorIs(t, err, bus.ErrSurplus)
	require.ErrorContains(t, err, "other.control.v1 has 3 partitions, want 1")
	require.NotContains(t, err.Error(), "transactions.v1", "busy topics may have more")
	require.False(t, bus.MayPass(err), "nobody waits for it")

	problems, err := other.Admin().Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, []bus.Problem{{Topic: bus.Control, Setting: "partitions", Have: "3", Want: "1"}}, problems)
	changes, err := other.Admin().Plan(t.Context())
	require.NoError(t, err)
	require.Len(t, changes, 1)
	require.Equal(t, "by_hand", changes[0].Action)
	require.Contains(t, changes[0].String(), "other.control.v1: partitions is 3, want 1: nothing takes partitions away")

	problems, err = c.Admin().Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, problems, "of another deployment")
}
