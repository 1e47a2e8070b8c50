package partition

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

func drawAssignment(rt *rapid.T, n, shards int) Assignment {
	a := make(Assignment, n)
	for i := range a {
		a[i] = lethe.ShardID(rapid.IntRange(0, shards-1).Draw(rt, "shard"))
	}
	return a
}

// The gain of an exchange, the table and the lists are kept step by step; they
// must equal what is counted afresh.
func TestExchangesKeepTheirBooks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt, 25)
		shards := rapid.IntRange(2, 4).Draw(rt, "shards")
		s := newSwaps(g, drawAssignment(rt, g.N(), shards), shards)
		draw := lethe.NewDraw(rapid.Uint64().Draw(rt, "seed"), "test")
		for i := range g.N() {
			to := lethe.ShardID(draw.IntN(shards))
			if to == s.a[i] {
				continue
			}
			j, saved, found := s.best(i, to, 3, draw)
			if !found {
				continue
			}
			require.Equal(rt, g.Class(i), g.Class(j))
			before := cutEdges(g, s.a)
			s.exchange(i, j, to, saved)
			require.Equal(rt, before-saved, cutEdges(g, s.a))
			require.Equal(rt, to, s.a[i])
		}
		require.Equal(rt, cutEdges(g, s.a), s.cut)
		fresh := newSwaps(g, s.a, shards)
		require.Equal(rt, fresh.table, s.table)
		for k := range fresh.members {
			require.ElementsMatch(rt, fresh.members[k], s.members[k])
			for at, i := range s.members[k] {
				require.Equal(rt, uint32(at), s.place[i])
			}
		}
	})
}

// best looks at every node when it may, so it must find the greatest gain.
func TestBestExchangeIsTheBest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt, 20)
		a := drawAssignment(rt, g.N(), 3)
		for i := range g.N() {
			to := (a[i] + 1) % 3
			want, any := 0, false
			for j := range g.N() {
				if a[j] == to && g.Class(j) == g.Class(i) {
					after := append(Assignment(nil), a...)
					after[i], after[j] = a[j], a[i]
					if gain := cutEdges(g, a) - cutEdges(g, after); !any || gain > want {
						want, any = gain, true
					}
				}
			}
			_, got, found := newSwaps(g, a, 3).best(i, to, g.N(), lethe.NewDraw(1, "test"))
			require.Equal(rt, any, found)
			require.Equal(rt, want, got)
		}
	})
}

func TestLargeGraphsGoTheSameWay(t *testing.T) {
	g := communities(t, 4, 30)
	a, _, err := Run(t.Context(), g, Options{Shards: 4, Method: MethodRandom, NoRefine: true})
	require.NoError(t, err)
	small, large := newSwaps(g, append(Assignment(nil), a...), 4), newSwaps(g, a, 4)
	require.NotNil(t, small.table)
	large.table = nil // as if it did not fit
	for sweep := range uint64(10) {
		small.anneal(0.3, lethe.NewDraw(1, "test", sweep))
		large.anneal(0.3, lethe.NewDraw(1, "test", sweep))
	}
	require.NoError(t, small.descend(t.Context(), 1))
	require.NoError(t, large.descend(t.Context(), 1))
	require.Positive(t, small.made)
	require.Equal(t, small.a, large.a)
	require.Equal(t, small.cut, large.cut)
}

func TestRefinementKeepsTheBetterStart(t *testing.T) {
	// A ring in four arcs. Annealing melts it and cannot put it together again in
	// so few sweeps.
	const n = 240
	edges := make([]lethe.Edge, n)
	a := make(Assignment, n)
	for i := range n {
		edges[i] = lethe.Edge{A: uint32(i), B: uint32((i + 1) % n)}
		a[i] = lethe.ShardID(i / (n / 4))
	}
	g, err := NewGraph(n, edges, make([]uint8, n), 1)
	require.NoError(t, err)
	for seed := range uint64(5) {
		got := append(Assignment(nil), a...)
		made, err := refine(t.Context(), g, got, Options{Shards: 4, Seed: seed, RefineSweeps: 40})
		require.NoError(t, err)
		require.Positive(t, made)
		require.Equal(t, 4, cutEdges(g, got))
	}
}

// The descent ends where no exchange of two nodes saves an edge.
func TestDescentEndsAtAnOptimum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt, 20)
		shards := rapid.IntRange(2, 4).Draw(rt, "shards")
		requireDescent(rt, g, drawAssignment(rt, g.N(), shards), shards)
	})
}

// A graph that takes several sweeps.
func TestDescentGoesOnWhileItSaves(t *testing.T) {
	g := plantedGraph(t, 200)
	a, _, err := Run(t.Context(), g, Options{Shards: 4, Method: MethodRandom, NoRefine: true})
	require.NoError(t, err)
	requireDescent(t, g, a, 4)
}

// requireDescent checks that no exchange saves a cut edge after a descent.
func requireDescent(t require.TestingT, g *Graph, a Assignment, shards int) {
	s := newSwaps(g, a, shards)
	before := s.cut
	require.NoError(t, s.descend(context.Background(), 1))
	require.LessOrEqual(t, s.cut, before)
	for i := range g.N() {
		for to := range shards {
			if lethe.ShardID(to) == s.a[i] {
				continue
			}
			_, saved, found := s.best(i, lethe.ShardID(to), g.N(), lethe.NewDraw(1, "test"))
			require.False(t, found && saved > 0, "node %d could go to shard %d and save %d", i, to, saved)
		}
	}
}
