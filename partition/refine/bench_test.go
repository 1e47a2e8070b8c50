package refine

import (
	"testing"

	"lethe"
	"lethe/partition/coarsen"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

// BenchmarkRefineSweep is one annealing sweep over the nodes of the graph.
func BenchmarkRefineSweep(b *testing.B) {
	g := graphtest.Planted(b, 50_000)
	q := graph.NewQuotas(g, 20)
	m := newMoves(coarsen.Finest(g), randomShards(b, g, 20), q)
	b.ReportAllocs()
	for draw := lethe.NewDraw(1, "bench"); b.Loop(); {
		m.sweep(0.5, draw)
	}
}
