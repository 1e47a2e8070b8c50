package bus_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/testbroker"
)

// BenchmarkReadAll reads 50,000 records of 700 bytes from the embedded broker,
// as lethe writes them and as a producer that compresses does.
func BenchmarkReadAll(b *testing.B) {
	const count = 50_000
	for name, codec := range map[string]kgo.CompressionCodec{"plain": kgo.NoCompression(), "zstd": kgo.ZstdCompression()} {
		b.Run(name, func(b *testing.B) {
			broker, c := testbroker.Start(b, nil)
			p, err := kgo.NewClient(kgo.SeedBrokers(broker.Config().Brokers[0]), kgo.ProducerBatchCompression(codec))
			require.NoError(b, err)
			defer p.Close()
			value := bytes.Repeat([]byte("0123456789"), 70)
			for from := 0; from < count; from += 1000 {
				var records []*kgo.Record
				for i := range 1000 {
					records = append(records, &kgo.Record{
						Topic: c.Name(bus.Transactions), Key: fmt.Append(nil, from+i), Value: value,
						Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("x")}},
					})
				}
				require.NoError(b, p.ProduceSync(b.Context(), records...).FirstErr())
			}
			b.ResetTimer()
			for b.Loop() {
				n := 0
				require.NoError(b, c.ReadAll(b.Context(), bus.Transactions, func(ingest.Record) error { n++; return nil }))
				require.Equal(b, count, n)
			}
			b.ReportMetric(float64(b.N)*count/b.Elapsed().Seconds(), "records/s")
		})
	}
}
