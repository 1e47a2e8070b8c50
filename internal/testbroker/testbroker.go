// Package testbroker gives a test an embedded broker of its own, and removes records from brokers.
package testbroker

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

// Start starts a broker with lethe's topics that compacts only on demand, and connects to it.
// partitions overrides the partition counts of topics. Both are closed when the test ends.
func Start(t testing.TB, partitions map[bus.Topic]int) (*embedded.Broker, *bus.Client) {
	t.Helper()
	broker, err := embedded.Start(t.TempDir(), embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, broker.Close()) })
	cfg := broker.Config()
	cfg.PartitionsOf = partitions
	client, err := bus.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	require.NoError(t, client.Admin().Apply(t.Context()))
	return broker, client
}

// DeleteRecords removes the records of a partition before an offset, or all of them before -1, as an operator or
// retention may.
func DeleteRecords(ctx context.Context, brokers []string, topic string, partition int32, before int64) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return err
	}
	defer client.Close()
	p, t, request := kmsg.NewDeleteRecordsRequestTopicPartition(), kmsg.NewDeleteRecordsRequestTopic(),
		kmsg.NewDeleteRecordsRequest()
	p.Partition, p.Offset = partition, before
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	request.Topics = append(request.Topics, t)
	answer, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(answer.Topics[0].Partitions[0].ErrorCode)
}
