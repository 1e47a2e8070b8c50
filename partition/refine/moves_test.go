package refine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/coarsen"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
	"lethe/partition/scores"
)

// What a move saves and costs is computed from its surroundings; it must equal
// the difference of sums counted afresh.
func TestMoveSumsEqualARecount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 25)
		shards := rapid.IntRange(2, 4).Draw(rt, "shards")
		cluster, count := graphtest.DrawClusters(rt, g.N())
		l := coarsen.Finest(g)
		if rapid.Bool().Draw(rt, "coarse") {
			l = l.Contract(cluster, count, g.NumClasses())
		}
		q := graph.NewQuotas(g, shards)
		m := newMoves(l, graphtest.DrawAssignment(rt, l.N(), shards), q)
		for class := range m.price {
			m.price[class] = 0.5 + float64(class)
		}
		for i := range l.N() {
			from, to := m.a[i], lethe.ShardID(rapid.IntRange(0, shards-1).Draw(rt, "to"))
			if from == to {
				continue
			}
			cut, paid := weightedCut(l, m.a), m.paid()
			saved, cost := m.saved(i, from, to), m.cost(i, from, to)
			m.move(i, to)
			require.Equal(rt, cut-saved, weightedCut(l, m.a))
			require.InDelta(rt, paid+cost, m.paid(), 1e-9)
		}
		require.Equal(rt, newMoves(l, m.a, q).excess, m.excess)
	})
}

// paid sums what all shards pay for being over or under their quotas.
func (m *moves) paid() float64 {
	sum := 0.0
	for k, excess := range m.excess {
		sum += m.price[k%m.numClasses] * float64(excess*excess)
	}
	return sum
}

func TestEvenOutMeetsEveryQuota(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 40)
		shards := rapid.IntRange(1, 6).Draw(rt, "shards")
		m := newMoves(coarsen.Finest(g), graphtest.DrawAssignment(rt, g.N(), shards), graph.NewQuotas(g, shards))
		over := 0
		for _, excess := range m.excess {
			over += max(0, excess)
		}
		m.evenOut()
		for _, excess := range m.excess {
			require.Zero(rt, excess)
		}
		require.Equal(rt, over, m.made, "a node moved that did not have to")
		s, err := scores.Of(g, m.a, shards)
		require.NoError(rt, err)
		graphtest.RequireEven(rt, s)
	})
}

// The heap of departures must hold the best of those it was given.
func TestKeepBestKeepsTheBest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		saved := rapid.SliceOf(rapid.IntRange(-5, 5)).Draw(rt, "saved")
		limit := rapid.IntRange(1, 6).Draw(rt, "limit")
		var heap, all []departure
		for i, s := range saved {
			d := departure{saved: s, node: uint32(i)}
			heap, all = keepBest(heap, d, limit), append(all, d)
		}
		slices.SortFunc(all, departure.compare)
		require.ElementsMatch(rt, all[:min(limit, len(all))], heap)
	})
}

// A contraction keeps every class count and every edge between two clusters, so
// an assignment of clusters cuts what it cuts when it is lowered. Twice, since
// the second contraction adds up weights.
func TestContractionKeepsLoadsAndCuts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 25)
		h := coarsen.Flat(g)
		for range 2 {
			cluster, count := graphtest.DrawClusters(rt, h.Coarsest().N())
			h.Contract(cluster, count)
		}
		a := graphtest.DrawAssignment(rt, h.Coarsest().N(), 3)
		coarse := newMoves(h.Coarsest(), a, graph.NewQuotas(g, 3))
		weight := weightedCut(h.Coarsest(), a)
		for k := 1; k >= 0; k-- {
			a = h.Lower(k, a)
		}
		require.Equal(rt, g.CutEdges(a), weight)
		require.Equal(rt, newMoves(h.Levels[0], a, graph.NewQuotas(g, 3)).excess, coarse.excess)
		require.Equal(rt, a, h.Lower(0, h.Lower(1, h.Lift(a, 3))), "lifting what was lowered changes nothing")
	})
}

func weightedCut(l *coarsen.Level, a graph.Assignment) int {
	cut := 0
	for i := range l.N() {
		for k := l.Start[i]; k < l.Start[i+1]; k++ {
			if a[i] != a[l.Neighbours[k]] {
				cut += l.Weight(k)
			}
		}
	}
	return cut / 2
}
