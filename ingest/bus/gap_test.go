package bus_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// A batch that inflates beyond all bounds ended the reader, and again at every
// start. It is named, reading goes on behind it, and a search of the topic says that
// it could not look there.
func TestReadingGoesOnBehindABatchThatInflates(t *testing.T) {
	b := trustingBroker(t)
	c := client(t, b, nil)
	require.NoError(t, c.Admin().Apply(t.Context()))
	// With lethe's own setting Apache Kafka inflates what comes, and refuses it as too large.
	setTopic(t, b, c.Name(bus.Receipts), "compression.type", "producer")
	require.Eventually(t, func() bool {
		problems, err := c.Admin().Check(t.Context())
		return err == nil && len(problems) == 1
	}, 30*time.Second, 10*time.Millisecond)
	producer, err := kgo.NewClient(kgo.SeedBrokers(b.config.Brokers...), kgo.ProducerBatchMaxBytes(100<<20),
		kgo.BrokerMaxWriteBytes(200<<20), kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	require.NoError(t, err)
	defer producer.Close()
	send := func(value []byte) {
		rec := &kgo.Record{Topic: c.Name(bus.Receipts), Key: []byte("k"), Value: value}
		require.NoError(t, producer.ProduceSync(t.Context(), rec).FirstErr())
	}
	send([]byte("before"))
	send(make([]byte, 32<<20))
	send(bytes.Repeat([]byte{1}, 3<<20)) // large, but no bomb
	send([]byte("behind"))

	follow := tail(t, c, map[bus.TopicPartition]int64{{Topic: bus.Receipts}: 0})
	var read []ingest.Record
	var gaps []*bus.Gap
	for len(read) < 3 {
		batch := next(t, follow)
		read = append(read, batch.Records...)
		if batch.Gap != nil {
			gaps = append(gaps, batch.Gap)
			require.Equal(t, batch.Gap.To, batch.Next)
		}
	}
	require.Equal(t, "before", string(read[0].Value))
	require.Len(t, read[1].Value, 3<<20)
	require.Equal(t, "behind", string(read[2].Value))
	require.Len(t, gaps, 1)
	require.Equal(t, [2]int64{1, 2}, [2]int64{gaps[0].From, gaps[0].To})
	require.Equal(t, ingest.CorruptBatch, gaps[0].Reason)
	require.Contains(t, gaps[0].Detail, "inflates to more than")
	rec, refusal := gaps[0].Letter()
	require.Equal(t, c.Name(bus.Receipts)+"/0/1", string(ingest.DeadLetter(rec, refusal, "v").Key))

	err = c.ReadAll(t.Context(), bus.Receipts, func(ingest.Record) error { return nil })
	require.ErrorIs(t, err, bus.ErrCorrupt)
	require.ErrorContains(t, err, "offsets 1 to 1")
	// Whoever wants to know of it reads around it.
	var told []*bus.Gap
	around := client(t, b, func(cfg *bus.Config) { cfg.Around = func(gap *bus.Gap) { told = append(told, gap) } })
	var all []ingest.Record
	take := func(rec ingest.Record) error {
		all = append(all, rec)
		return nil
	}
	require.NoError(t, around.ReadAll(t.Context(), bus.Receipts, take))
	require.NoError(t, around.ReadNew(t.Context(), bus.Receipts, make(map[int]int64), take))
	require.Len(t, all, 6)
	require.Equal(t, []*bus.Gap{gaps[0], gaps[0]}, told)
	_, err = c.ReadCopies(t.Context(), bus.Receipts, func(int32, ingest.Record) error { return nil }, nil)
	require.ErrorIs(t, err, bus.ErrCorrupt)
	told = nil
	tell := func(_ int32, gap *bus.Gap) { told = append(told, gap) }
	_, err = c.ReadCopies(t.Context(), bus.Receipts, func(int32, ingest.Record) error { return nil }, tell)
	require.NoError(t, err)
	require.Equal(t, gaps[:1], told)
}
