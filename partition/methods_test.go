package partition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/partition/graphtest"
)

// BenchmarkMethods partitions 3,000 nodes in 30 graphtest.Communities into 20 shards, as a
// method proposes it.
func BenchmarkMethods(b *testing.B) {
	g := graphtest.Communities(b, 30, 100)
	for _, method := range Methods() {
		b.Run(method, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, report, err := Run(b.Context(), g, with(Config{Shards: 20, Method: method}))
				require.NoError(b, err)
				b.ReportMetric(report.Scores.EdgeCut, "cut")
			}
		})
	}
}
