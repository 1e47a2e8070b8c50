package roletest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Reader reads topics: in memory, or a broker's.
type Reader interface {
	ReadAll(ctx context.Context, topic bus.Topic, fn func(ingest.Record) error) error
}

// Records returns the committed records of a topic, partition by partition.
func Records(t testing.TB, from Reader, topic bus.Topic) (out []ingest.Record) {
	t.Helper()
	require.NoError(t, from.ReadAll(t.Context(), topic, func(rec ingest.Record) error {
		out = append(out, rec)
		return nil
	}))
	return out
}

// Newest returns the newest record of every key, also if it is a tombstone.
func Newest(t testing.TB, from Reader, topic bus.Topic) map[string]ingest.Record {
	t.Helper()
	out := make(map[string]ingest.Record)
	for _, rec := range Records(t, from, topic) {
		out[string(rec.Key)] = rec
	}
	return out
}

// Notices returns what control.v1 says.
func Notices(t testing.TB, from Reader) (out []wire.Notice) {
	t.Helper()
	for _, rec := range Records(t, from, bus.Control) {
		n, err := wire.ParseNotice(rec)
		require.NoError(t, err)
		out = append(out, n)
	}
	return out
}

// Messages returns the messages of a topic, put together from their parts.
func Messages(t testing.TB, from Reader, topic bus.Topic) (out []wire.Received) {
	t.Helper()
	reader := wire.NewReader()
	for _, rec := range Records(t, from, topic) {
		source := bus.TopicPartition{Topic: topic, Partition: rec.Partition}
		list, err := reader.Read(bus.Batch{Source: source, Records: []ingest.Record{rec}})
		require.NoError(t, err)
		out = append(out, list...)
	}
	return out
}
