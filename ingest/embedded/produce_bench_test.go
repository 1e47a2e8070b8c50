package embedded_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe/ingest/bus"
	"lethe/internal/testbroker"
)

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
