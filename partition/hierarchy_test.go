package partition

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// drawClusters gives every node one of a few clusters, numbered as contract
// wants them.
func drawClusters(rt *rapid.T, n int) (cluster []uint32, count int) {
	cluster = make([]uint32, n)
	for i := range cluster {
		cluster[i] = uint32(rapid.IntRange(0, min(n-1, 5)).Draw(rt, "cluster"))
	}
	return cluster, renumber(cluster)
}

// A contraction keeps every class count and every edge between two clusters, so
// an assignment of clusters cuts what it cuts when it is lowered. Twice, since
// the second contraction adds up weights.
func TestContractionKeepsLoadsAndCuts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt, 25)
		h := &hierarchy{g: g, levels: []*level{finestLevel(g)}}
		for range 2 {
			cluster, count := drawClusters(rt, h.coarsest().n())
			h.clusters = append(h.clusters, cluster)
			h.levels = append(h.levels, h.coarsest().contract(cluster, count, g.NumClasses()))
		}
		a := drawAssignment(rt, h.coarsest().n(), 3)
		coarse := newMoves(h.coarsest(), a, newQuotas(g, 3))
		weight := weightedCut(h.coarsest(), a)
		for k := 1; k >= 0; k-- {
			a = h.lower(k, a)
		}
		require.Equal(rt, cutEdges(g, a), weight)
		require.Equal(rt, newMoves(h.levels[0], a, newQuotas(g, 3)).excess, coarse.excess)
		require.Equal(rt, a, h.lower(0, h.lower(1, h.lift(a, 3))), "lifting what was lowered changes nothing")
	})
}

func weightedCut(l *level, a Assignment) int {
	cut := 0
	for i := range l.n() {
		for k := l.start[i]; k < l.start[i+1]; k++ {
			if a[i] != a[l.neighbours[k]] {
				cut += l.weight(k)
			}
		}
	}
	return cut / 2
}

func TestClustersStayWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt, 40)
		bound := rapid.IntRange(1, 8).Draw(rt, "bound")
		p := newPropagation(finestLevel(g), bound, lethe.NewDraw(rapid.Uint64().Draw(rt, "seed"), "test"))
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

// Six clusters of two nodes all prefer shard 0. Each shard takes two, those that
// would lose most by another choice first.
func TestClustersFillShardsBySize(t *testing.T) {
	g, err := NewGraph(12, nil, make([]uint8, 12), 1)
	require.NoError(t, err)
	l := finestLevel(g).contract([]uint32{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, 6, 1)
	h := &hierarchy{g: g, levels: []*level{finestLevel(g), l}}
	a := h.assignBySize([]float64{
		0, 1, 9,
		0, 6, 9,
		0, 2, 9,
		0, 5, 9,
		0, 3, 9,
		0, 4, 9,
	}, 3)
	require.Equal(t, Assignment{2, 0, 2, 0, 1, 1}, a)
}

// With room for a community in a cluster, label propagation finds cliques.
func TestClustersFindCliques(t *testing.T) {
	var edges []lethe.Edge
	for i := range uint32(40) {
		for j := i - i%8; j < i; j++ {
			edges = append(edges, lethe.Edge{A: i, B: j})
		}
	}
	g, err := NewGraph(40, edges, make([]uint8, 40), 1)
	require.NoError(t, err)
	cluster, count := finestLevel(g).cluster(8, lethe.NewDraw(1, "test"))
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
