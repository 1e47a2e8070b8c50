package bus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

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
	for _, rec := range recordsOf(t, c, bus.Receipts) {
		require.Equal(t, "a value that repeats, a value that repeats", string(rec.Value))
		count[string(rec.Key)]++
	}
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
	got := recordsOf(t, c, bus.Receipts)
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

// A search reads every record that a log holds, also of an aborted transaction, and in and behind one that is open.
// Nobody else does.
func TestReadEveryHasRecordsOfAllTransactions(t *testing.T) {
	b, c := open(t, nil)
	topic := c.Name(bus.Transactions)
	produce := func(p *kgo.Client, key string) int64 {
		rec := &kgo.Record{Topic: topic, Partition: 0, Key: []byte(key), Value: []byte(key)}
		require.NoError(t, p.ProduceSync(t.Context(), rec).FirstErr())
		return rec.Offset
	}
	producer := func(options ...kgo.Opt) *kgo.Client {
		p, err := kgo.NewClient(append(options, kgo.SeedBrokers(b.config.Brokers...),
			kgo.MaxVersions(kversion.V3_7_0()), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
		require.NoError(t, err)
		t.Cleanup(p.Close)
		return p
	}
	plain, transactional := producer(), producer(kgo.TransactionalID("t"))
	produce(plain, "plain")
	require.NoError(t, transactional.BeginTransaction())
	aborted := produce(transactional, "aborted")
	require.NoError(t, transactional.EndTransaction(t.Context(), kgo.TryAbort))
	require.NoError(t, transactional.BeginTransaction())
	produce(transactional, "committed")
	require.NoError(t, transactional.EndTransaction(t.Context(), kgo.TryCommit))
	require.NoError(t, transactional.BeginTransaction())
	inOpen := produce(transactional, "open")
	behind := produce(plain, "behind")

	var all, committed, copies []string
	said := func(rec ingest.Record) string { return fmt.Sprintf("%s %s", rec.Key, rec.Uncommitted) }
	require.NoError(t, c.ReadEveryAround(t.Context(), bus.Transactions, func(rec ingest.Record) error {
		if len(rec.Key) > 0 && rec.Key[0] != '!' {
			all = append(all, said(rec))
		}
		return nil
	}, nil))
	require.NoError(t, c.ReadAll(t.Context(), bus.Transactions, func(rec ingest.Record) error {
		if len(rec.Key) > 0 && rec.Key[0] != '!' {
			committed = append(committed, said(rec))
		}
		return nil
	}))
	_, err := c.ReadCopies(t.Context(), bus.Transactions, func(_ int32, rec ingest.Record) error {
		if len(rec.Key) > 0 && rec.Key[0] != '!' {
			copies = append(copies, said(rec))
		}
		return nil
	}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"plain ", "aborted aborted", "committed ", "open open", "behind open"}, all)
	require.Equal(t, all, copies)
	require.Equal(t, []string{"plain ", "committed "}, committed)
	for _, offset := range []int64{aborted, inOpen, behind} {
		held, err := c.Holds(t.Context(), bus.TopicPartition{Topic: bus.Transactions}, offset)
		require.NoError(t, err)
		require.True(t, held, "offset %d", offset)
	}
	require.NoError(t, transactional.EndTransaction(t.Context(), kgo.TryAbort))
}
