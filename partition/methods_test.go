package partition

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/partition/internal/graphtest"
	"lethe/partition/kmeans"
)

// The methods of Chen et al. promise a capacity instead of quotas.
func TestEraserMethodsKeepTheirCapacity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 40)
		opts := refined(Config{
			Shards: rapid.IntRange(1, g.N()+3).Draw(rt, "shards"),
			Method: rapid.SampledFrom([]string{MethodBLPA, MethodBEKM}).Draw(rt, "method"),
			Seed:   rapid.Uint64().Draw(rt, "seed"),
			Sweeps: rapid.IntRange(1, 10).Draw(rt, "sweeps"),
		})
		a, report, err := Run(t.Context(), g, opts)
		require.NoError(rt, err)
		require.Len(rt, a, g.N())
		n, v := float64(g.N()), float64(opts.Shards)
		// The bound as printed, against the integers of the code.
		limit := math.Ceil(n/v + 0.005*(n-n/v) - 1e-9)
		require.LessOrEqual(rt, float64(slices.Max(report.Scores.Sizes)), limit)
		require.True(rt, report.Converged || report.Iterations == opts.Sweeps || g.N() == 0)
	})
}

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

// A single propagation from a random start cuts less than the start did.
func TestPropagationFollowsTheEdges(t *testing.T) {
	g := graphtest.Communities(t, 6, 48)
	for _, method := range []string{MethodBLPA, MethodBEKM} {
		_, report, err := Run(t.Context(), g, refined(Config{Shards: 6, Method: method}))
		require.NoError(t, err)
		require.Less(t, report.Scores.EdgeCut, 0.4, "%s; at random it is .83", method)
	}
}

func TestEmbeddingMustFit(t *testing.T) {
	g := graphtest.Communities(t, 2, 6)
	for want, e := range map[string]*kmeans.Points{
		"embedding has 3 values in rows of 2, want 12 rows": {Columns: 2, Values: make([]float64, 3)},
		"embedding has 0 values in rows of 0, want 12 rows": {},
		"embedding of node 7 has NaN in column 1, want finite numbers": {Columns: 2,
			Values: append(append(make([]float64, 15), math.NaN()), make([]float64, 8)...)},
	} {
		_, _, err := Run(t.Context(), g, refined(Config{Shards: 2, Method: MethodBEKM, Embedding: e}))
		require.ErrorContains(t, err, want)
	}
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
