package baselines

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/partition/graphtest"
	"lethe/partition/kmeans"
)

// The methods of Chen et al. promise a capacity instead of quotas.
func TestEraserMethodsKeepTheirCapacity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 40)
		sweeps := rapid.IntRange(1, 10).Draw(rt, "sweeps")
		opts := DefaultsOf(rapid.SampledFrom([]string{MethodBLPA, MethodBEKM}).Draw(rt, "method"))
		opts.Sweeps = sweeps
		opts.Shards, opts.Seed = rapid.IntRange(1, g.N()+3).Draw(rt, "shards"), rapid.Uint64().Draw(rt, "seed")
		a, report, err := Run(t.Context(), g, opts)
		require.NoError(rt, err)
		require.Len(rt, a, g.N())
		n, v := float64(g.N()), float64(opts.Shards)
		// The bound as printed, against the integers of the code.
		limit := math.Ceil(n/v + 0.005*(n-n/v) - 1e-9)
		require.LessOrEqual(rt, float64(slices.Max(report.Scores.Sizes)), limit)
		require.True(rt, report.Converged || report.Iterations == sweeps || g.N() == 0)
	})
}

// A single propagation from a random start cuts less than the start did.
func TestPropagationFollowsTheEdges(t *testing.T) {
	g := graphtest.Communities(t, 6, 48)
	for _, method := range []string{MethodBLPA, MethodBEKM} {
		opts := DefaultsOf(method)
		opts.Shards = 6
		_, report, err := Run(t.Context(), g, opts)
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
		opts := DefaultsOf(MethodBEKM)
		opts.Shards, opts.Embedding = 2, e
		_, _, err := Run(t.Context(), g, opts)
		require.ErrorContains(t, err, want)
	}
}
