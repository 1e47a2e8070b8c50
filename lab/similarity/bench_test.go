package similarity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/similarity"
	"lethe/scoring/graphtest"
)

func BenchmarkHistogram(b *testing.B) {
	n, joined := graphtest.Stars(40, 100)
	for name, g := range map[string]struct {
		n     int
		edges []lethe.Edge
		limit int
	}{
		"slice36":        {36, graphtest.Hubs(36, 42, 1), 0},
		"hubs4159":       {4159, graphtest.Hubs(4159, 5000, 1), 0},
		"even4159":       {4159, graphtest.Even(4159, 5000, 1), 0},
		"path4159":       {4159, graphtest.Path(4159), 0},
		"stars4041":      {n, joined, 0},
		"hubs50/dense":   {50, graphtest.Hubs(50, 60, 1), 2000},
		"hubs50/krylov":  {50, graphtest.Hubs(50, 60, 1), 1},
		"hubs100/dense":  {100, graphtest.Hubs(100, 120, 1), 2000},
		"hubs100/krylov": {100, graphtest.Hubs(100, 120, 1), 1},
		"hubs250/dense":  {250, graphtest.Hubs(250, 300, 1), 2000},
		"hubs250/krylov": {250, graphtest.Hubs(250, 300, 1), 1},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e, err := similarity.Embed(g.n, g.edges, denseUpTo(g.limit))
				require.NoError(b, err)
				b.ReportMetric(e.Residual, "residual")
			}
		})
	}
}

// One timestep against all slices of 49 timesteps in 20 shards.
func BenchmarkCompare980(b *testing.B) {
	scored := histogram(b, 4159, graphtest.Hubs(4159, 4783, 1))
	var slices []*similarity.Histogram
	for seed := range uint64(20) {
		slices = append(slices, histogram(b, 208, graphtest.Hubs(208, 240, seed)))
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range 980 {
			_, err := similarity.Normalised(scored, slices[i%len(slices)])
			require.NoError(b, err)
		}
	}
}
