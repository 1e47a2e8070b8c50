package scoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring"
)

func BenchmarkHistogram(b *testing.B) {
	n, joined := stars(40, 100)
	for name, g := range map[string]struct {
		n     int
		edges []lethe.Edge
		limit int
	}{
		"slice36":        {36, hubGraph(36, 42, 1), 0},
		"hubs4159":       {4159, hubGraph(4159, 5000, 1), 0},
		"even4159":       {4159, evenGraph(4159, 5000, 1), 0},
		"path4159":       {4159, path(4159), 0},
		"stars4041":      {n, joined, 0},
		"hubs50/dense":   {50, hubGraph(50, 60, 1), 2000},
		"hubs50/krylov":  {50, hubGraph(50, 60, 1), 1},
		"hubs100/dense":  {100, hubGraph(100, 120, 1), 2000},
		"hubs100/krylov": {100, hubGraph(100, 120, 1), 1},
		"hubs250/dense":  {250, hubGraph(250, 300, 1), 2000},
		"hubs250/krylov": {250, hubGraph(250, 300, 1), 1},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e, err := scoring.Embed(g.n, g.edges, scoring.PyramidOptions{DenseLimit: g.limit})
				require.NoError(b, err)
				b.ReportMetric(e.Residual, "residual")
			}
		})
	}
}

// One timestep against all slices of 49 timesteps in 20 shards.
func BenchmarkCompare980(b *testing.B) {
	scored := histogram(b, 4159, hubGraph(4159, 4783, 1))
	var slices []*scoring.Histogram
	for seed := range uint64(20) {
		slices = append(slices, histogram(b, 208, hubGraph(208, 240, seed)))
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range 980 {
			_, err := scoring.Normalised(scored, slices[i%len(slices)])
			require.NoError(b, err)
		}
	}
}
