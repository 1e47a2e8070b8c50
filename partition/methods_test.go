package partition

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/partition/graphtest"
)

// The paper's random shards are even in size, and no swap touches them.
func TestPlainRandomIsEvenInSizeOnly(t *testing.T) {
	g := graphtest.Communities(t, 4, 50)
	opts := refined(Config{Shards: 7, Method: MethodRandom, Assign: AssignPlain, Seed: 4})
	_, report, err := Run(t.Context(), g, opts)
	require.NoError(t, err)
	require.LessOrEqual(t, slices.Max(report.Scores.Sizes)-slices.Min(report.Scores.Sizes), 1)
	require.Zero(t, report.Swaps)
	require.Greater(t, report.Scores.EdgeCut, 0.7)
	opts.Assign = AssignQuotas
	_, quotas, err := Run(t.Context(), g, opts)
	require.NoError(t, err)
	require.Less(t, report.Scores.Fairness, quotas.Scores.Fairness, "classes fall as they may")
}

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
	b.Run(fmt.Sprintf("%s plain", MethodGPFBFast), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := Run(b.Context(), g, refined(Config{Shards: 20, Assign: AssignPlain}))
			require.NoError(b, err)
		}
	})
}
