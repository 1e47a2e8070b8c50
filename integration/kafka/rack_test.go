package kafka_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/bus/protocol"
)

// Whoever says in which rack it is reads topics from the broker there: the leader names it, and it answers. A tail
// has every record then, as from the leaders.
func TestTheRackOfOneOfThreeIsRead(t *testing.T) {
	newCluster(t)
	const records = 200
	l := newLab(t)
	d := l.outside(t)
	d.prepare()
	cfg := d.config()
	cfg.Rack = "rack-2"
	client, err := bus.Open(cfg)
	require.NoError(t, err)
	defer client.Close()
	positions := make(map[bus.TopicPartition]int64)
	count, err := client.Partitions(t.Context(), bus.Labels)
	require.NoError(t, err)
	for p := range count {
		positions[bus.TopicPartition{Topic: bus.Labels, Partition: p}] = bus.FromStart
	}
	tail, err := client.Tail(positions)
	require.NoError(t, err)
	defer tail.Close()
	want, got := make(map[string]bool), make(map[string]bool)
	for i := range records {
		key := fmt.Sprintf("key-%d", i)
		want[key] = true
		require.NoError(t, client.Write(t.Context(), bus.Labels, []ingest.Outgoing{{Key: []byte(key), Value: []byte("{}")}}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(got) < records {
		batch, err := tail.Next(ctx)
		require.NoError(t, err)
		for _, rec := range batch.Records {
			got[string(rec.Key)] = true
		}
	}
	require.Equal(t, want, got)

	raw := protocol.Client{Transport: &kafka.Transport{}, Address: kafka.TCP(cfg.Brokers...), ClientID: "rack"}
	elsewhere := 0
	for p := range count {
		ask := protocol.FetchRequest{
			Topic: client.Name(bus.Labels), Partition: p, Rack: cfg.Rack, Wait: time.Second, MaxBytes: 1 << 20,
		}
		answer, err := raw.Fetch(t.Context(), ask)
		require.NoError(t, err)
		if answer.Nearer == nil { // it leads there
			require.NotEmpty(t, answer.Records)
			continue
		}
		elsewhere++
		require.EqualValues(t, 2, *answer.Nearer)
		ask.Copy = answer.Nearer
		answer, err = raw.Fetch(t.Context(), ask)
		require.NoError(t, err)
		require.NotEmpty(t, answer.Records)
	}
	require.Positive(t, elsewhere, "the broker leads all partitions")
}
