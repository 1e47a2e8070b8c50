package partition

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// What a move saves and costs is computed from its surroundings; it must equal
// the difference of sums counted afresh.
func TestMovesKeepTheirBooks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt, 25)
		shards := rapid.IntRange(2, 4).Draw(rt, "shards")
		cluster, count := drawClusters(rt, g.N())
		l := finestLevel(g)
		if rapid.Bool().Draw(rt, "coarse") {
			l = l.contract(cluster, count, g.NumClasses())
		}
		q := newQuotas(g, shards)
		m := newMoves(l, drawAssignment(rt, l.n(), shards), q)
		for class := range m.price {
			m.price[class] = 0.5 + float64(class)
		}
		for i := range l.n() {
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
		g := drawGraph(rt, 40)
		shards := rapid.IntRange(1, 6).Draw(rt, "shards")
		m := newMoves(finestLevel(g), drawAssignment(rt, g.N(), shards), newQuotas(g, shards))
		over := 0
		for _, excess := range m.excess {
			over += max(0, excess)
		}
		m.evenOut()
		for _, excess := range m.excess {
			require.Zero(rt, excess)
		}
		require.Equal(rt, over, m.made, "a node moved that did not have to")
		scores, err := Score(g, m.a, shards)
		require.NoError(rt, err)
		requireEven(rt, scores)
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
