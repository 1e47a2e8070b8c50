package embedded_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/testbroker"
)

// BenchmarkCompact compacts a log in which nothing is to be removed: what a
// compaction costs at least.
func BenchmarkCompact(b *testing.B) {
	for _, mebibytes := range []int{2, 200} {
		b.Run(fmt.Sprintf("%dMiB", mebibytes), func(b *testing.B) {
			broker, c := testbroker.Start(b, nil)
			value := bytes.Repeat([]byte("0123456789"), 100)
			began := time.Now()
			for m := range mebibytes {
				records := make([]ingest.Outgoing, 1000)
				for i := range records {
					records[i] = ingest.Outgoing{Key: fmt.Appendf(nil, "%d-%d", m, i), Value: value}
				}
				require.NoError(b, c.Write(b.Context(), bus.Transactions, records))
			}
			written := time.Since(began)
			b.ResetTimer()
			for b.Loop() {
				require.NoError(b, broker.Compact())
			}
			b.StopTimer()
			began = time.Now()
			n := 0
			require.NoError(b, c.ReadAll(b.Context(), bus.Transactions, func(ingest.Record) error { n++; return nil }))
			require.Equal(b, mebibytes*1000, n)
			b.ReportMetric(float64(n)/written.Seconds(), "writes/s")
			b.ReportMetric(float64(n)/time.Since(began).Seconds(), "reads/s")
		})
	}
}

// BenchmarkProduce writes 2,000 records of 1 kB at a time, as a producer of others does.
func BenchmarkProduce(b *testing.B) {
	for name, codec := range map[string]kgo.CompressionCodec{"plain": kgo.NoCompression(), "zstd": kgo.ZstdCompression()} {
		b.Run(name, func(b *testing.B) {
			broker, c := testbroker.Start(b, nil)
			p, err := kgo.NewClient(kgo.SeedBrokers(broker.Config().Brokers[0]), kgo.ProducerBatchCompression(codec))
			require.NoError(b, err)
			defer p.Close()
			value := bytes.Repeat([]byte("0123456789"), 100)
			records := make([]*kgo.Record, 2000)
			n := 0
			for b.Loop() {
				for i := range records {
					records[i] = &kgo.Record{Topic: c.Name(bus.Transactions), Key: fmt.Appendf(nil, "%d", n), Value: value}
					n++
				}
				require.NoError(b, p.ProduceSync(b.Context(), records...).FirstErr())
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}
