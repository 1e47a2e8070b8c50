package embedded_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
