package partition

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/refine"
)

// Where all timesteps have as many nodes, and fewer of a class than there are shards, every
// shard meets that class about as often as any other, by every method, refined or not; and
// so do groups of neighbouring shards.
func TestShardsMeetARareClassAlike(t *testing.T) {
	const nodes, rare, shards, timesteps = 60, 4, 20, 40
	for _, method := range QuotaMethods() {
		for _, c := range []Config{with(Config{Method: method}), refined(Config{Method: method})} {
			c.Shards, c.RefineSweeps = shards, sweeps(2)
			var met [shards]int
			for at := range lethe.Timestep(timesteps) {
				c.Timestep = at
				g := rareGraph(t, nodes, rare, uint64(at))
				a, _, err := Run(t.Context(), g, c)
				require.NoError(t, err)
				for i, shard := range a {
					met[shard] += int(g.Class(i))
				}
			}
			const mean = timesteps * rare / shards
			require.GreaterOrEqual(t, slices.Min(met[:]), mean-3, "%s %v", method, met)
			require.LessOrEqual(t, slices.Max(met[:]), mean+3, "%s %v", method, met)
		}
	}
}

// rareGraph has a ring of edges and chords, and a few nodes of class 1.
func rareGraph(t *testing.T, nodes, rare int, seed uint64) *graph.Graph {
	t.Helper()
	d := lethe.NewDraw(seed, "test-rare")
	classes := make([]uint8, nodes)
	for left := rare; left > 0; {
		if i := d.IntN(nodes); classes[i] == 0 {
			classes[i] = 1
			left--
		}
	}
	var edges []lethe.Edge
	for i := range nodes {
		for _, j := range []int{(i + 1) % nodes, d.IntN(nodes)} {
			if i != j {
				edges = append(edges, lethe.Edge{A: uint32(min(i, j)), B: uint32(max(i, j))})
			}
		}
	}
	g, err := graph.New(nodes, edges, classes, 2)
	require.NoError(t, err)
	return g
}

// Turning changes the numbers of the shards and nothing else.
func TestTurningRenumbersShards(t *testing.T) {
	g := rareGraph(t, 90, 7, 1)
	c := refined(Config{Shards: 7, Method: MethodGPFBFast, RefineSweeps: refine.Sweeps{Least: 3, Most: 3}})
	still, reportStill, err := Run(t.Context(), g, c)
	require.NoError(t, err)
	c.Timestep = 1
	turned, report, err := Run(t.Context(), g, c)
	require.NoError(t, err)
	require.Equal(t, reportStill.Scores.CutEdges, report.Scores.CutEdges)
	by := turnOf(1, 7)
	require.NotZero(t, by)
	for i := range still {
		require.Equal(t, (int(still[i])+by)%7, int(turned[i]))
	}
}
