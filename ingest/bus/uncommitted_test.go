package bus_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"lethe/ingest"
	"lethe/ingest/bus"
)

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
