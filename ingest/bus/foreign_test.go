package bus_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Producers of the fraud team are not ours: they may compress, and write in
// transactions, some of which are aborted.
func TestReadsWhatOtherProducersWrite(t *testing.T) {
	b, c := open(t, nil)
	for name, codec := range map[string]kgo.CompressionCodec{
		"gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		producer, err := kgo.NewClient(kgo.SeedBrokers(b.config.Brokers...), kgo.ProducerBatchCompression(codec))
		require.NoError(t, err)
		require.NoError(t, producer.ProduceSync(t.Context(), foreign(c, bus.Receipts, name, 50)...).FirstErr())
		producer.Close()
	}
	count := map[string]int{}
	require.NoError(t, c.ReadAll(t.Context(), bus.Receipts, func(rec ingest.Record) error {
		require.Equal(t, "a value that repeats, a value that repeats", string(rec.Value))
		count[string(rec.Key)]++
		return nil
	}))
	require.Equal(t, map[string]int{"gzip": 50, "snappy": 50, "lz4": 50, "zstd": 50}, count)
}

func TestLeavesOutAbortedTransactions(t *testing.T) {
	b, c := open(t, nil)
	ctx := t.Context()
	one, err := kgo.NewClient(kgo.SeedBrokers(b.config.Brokers...), kgo.TransactionalID("one"))
	require.NoError(t, err)
	defer one.Close()
	two, err := kgo.NewClient(kgo.SeedBrokers(b.config.Brokers...), kgo.TransactionalID("two"))
	require.NoError(t, err)
	defer two.Close()
	write := func(p *kgo.Client, key string) {
		require.NoError(t, p.ProduceSync(ctx, foreign(c, bus.Receipts, key, 2)...).FirstErr())
	}
	end := func(p *kgo.Client, how kgo.TransactionEndTry) {
		require.NoError(t, p.EndTransaction(ctx, how))
	}
	require.NoError(t, one.BeginTransaction())
	require.NoError(t, two.BeginTransaction())
	write(one, "one-aborted")
	write(two, "two-kept")
	end(one, kgo.TryAbort)
	require.NoError(t, one.BeginTransaction())
	write(one, "one-kept")
	end(two, kgo.TryCommit)
	end(one, kgo.TryCommit)
	require.NoError(t, two.BeginTransaction())
	write(two, "two-aborted")
	end(two, kgo.TryAbort)
	require.NoError(t, c.Write(ctx, bus.Receipts, numbered(1)))

	want := []string{"two-kept", "two-kept", "one-kept", "one-kept", "k0"}
	var got []ingest.Record
	require.NoError(t, c.ReadAll(ctx, bus.Receipts, func(rec ingest.Record) error {
		got = append(got, rec)
		return nil
	}))
	require.Equal(t, want, keys(got))

	// From every position the same records come, whatever transaction the
	// position lies in.
	ends, err := c.EndOffsets(ctx, bus.Receipts)
	require.NoError(t, err)
	for from := range ends[0] {
		var after []ingest.Record
		follow := tail(t, c, map[bus.TopicPartition]int64{{Topic: bus.Receipts}: from})
		for position := from; position < ends[0]; {
			batch := next(t, follow)
			position = batch.Next
			after = append(after, batch.Records...)
		}
		require.NoError(t, follow.Close())
		var expect []string
		for _, rec := range got {
			if rec.Offset >= from {
				expect = append(expect, string(rec.Key))
			}
		}
		require.Equal(t, expect, keys(after), "from %d", from)
	}
}

// An open transaction holds the end back until it is decided.
func TestEndOffsetsStopBeforeAnOpenTransaction(t *testing.T) {
	b, c := open(t, nil)
	producer, err := kgo.NewClient(kgo.SeedBrokers(b.config.Brokers...), kgo.TransactionalID("open"))
	require.NoError(t, err)
	defer producer.Close()
	require.NoError(t, producer.BeginTransaction())
	require.NoError(t, producer.ProduceSync(context.Background(), foreign(c, bus.Receipts, "x", 3)...).FirstErr())
	ends, err := c.EndOffsets(t.Context(), bus.Receipts)
	require.NoError(t, err)
	require.Equal(t, []int64{0}, ends)
	require.NoError(t, producer.EndTransaction(context.Background(), kgo.TryCommit))
	// Three records and the end of the transaction, which takes a moment.
	require.Eventually(t, func() bool {
		ends, err = c.EndOffsets(t.Context(), bus.Receipts)
		return err == nil && ends[0] == 4
	}, 30*time.Second, 10*time.Millisecond)
}

func foreign(c *bus.Client, topic bus.Topic, key string, n int) (out []*kgo.Record) {
	for range n {
		out = append(out, &kgo.Record{
			Topic: c.Name(topic), Key: []byte(key), Value: []byte("a value that repeats, a value that repeats"),
		})
	}
	return out
}
