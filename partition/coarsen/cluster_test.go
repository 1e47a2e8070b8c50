package coarsen

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

func TestClustersStayWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 40)
		bound := rapid.IntRange(1, 8).Draw(rt, "bound")
		p := newPropagation(Finest(g), bound, lethe.NewDraw(rapid.Uint64().Draw(rt, "seed"), "test"))
		for range clusterRounds {
			p.round()
			size := make([]uint32, g.N())
			for _, c := range p.cluster {
				size[c]++
				require.LessOrEqual(rt, int(size[c]), bound)
			}
			require.Equal(rt, size, p.size)
		}
	})
}

// With room for a community in a cluster, label propagation finds cliques.
func TestClustersFindCliques(t *testing.T) {
	var edges []lethe.Edge
	for i := range uint32(40) {
		for j := i - i%8; j < i; j++ {
			edges = append(edges, lethe.Edge{A: i, B: j})
		}
	}
	g, err := graph.New(40, edges, make([]uint8, 40), 1)
	require.NoError(t, err)
	cluster, count := Finest(g).Cluster(8, lethe.NewDraw(1, "test"))
	require.Equal(t, 5, count)
	for i, c := range cluster {
		require.Equal(t, uint32(i/8), c)
	}
}

// A tally must give what a map gives, whatever keys collide.
func TestTallyAddsUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var sums tally
		for range 3 {
			keys := rapid.SliceOf(rapid.Uint32Range(0, 40)).Draw(rt, "keys")
			want := map[uint32]uint32{}
			sums.reset(len(keys))
			for i, key := range keys {
				sums.add(key, uint32(i+1))
				want[key] += uint32(i + 1)
			}
			require.Len(rt, sums.used, len(want))
			for key := range uint32(41) {
				require.Equal(rt, want[key], sums.of(key))
			}
		}
	})
}
