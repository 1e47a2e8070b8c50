package refine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/baselines"
	"lethe/partition/coarsen"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
	"lethe/partition/method"
)

// The gain of an exchange, the table and the lists are kept step by step; they
// must equal what is counted afresh.
func TestExchangeSumsEqualARecount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 25)
		shards := rapid.IntRange(2, 4).Draw(rt, "shards")
		s := newSwaps(g, graphtest.DrawAssignment(rt, g.N(), shards), shards)
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
			before := g.CutEdges(s.a)
			s.exchange(i, j, to, saved)
			require.Equal(rt, before-saved, g.CutEdges(s.a))
			require.Equal(rt, to, s.a[i])
		}
		require.Equal(rt, g.CutEdges(s.a), s.cut)
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
		g := graphtest.Draw(rt, 20)
		a := graphtest.DrawAssignment(rt, g.N(), 3)
		for i := range g.N() {
			to := (a[i] + 1) % 3
			want, any := 0, false
			for j := range g.N() {
				if a[j] == to && g.Class(j) == g.Class(i) {
					after := append(graph.Assignment(nil), a...)
					after[i], after[j] = a[j], a[i]
					if gain := g.CutEdges(a) - g.CutEdges(after); !any || gain > want {
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

// randomShards meets the quotas at random.
func randomShards(t testing.TB, g *graph.Graph, shards int) graph.Assignment {
	a, _, err := baselines.Random{}.Propose(t.Context(), method.Request{Hierarchy: coarsen.Flat(g), Shards: shards})
	require.NoError(t, err)
	return a
}

func TestLargeGraphsGoTheSameWay(t *testing.T) {
	g := graphtest.Communities(t, 4, 30)
	a := randomShards(t, g, 4)
	small, large := newSwaps(g, append(graph.Assignment(nil), a...), 4), newSwaps(g, a, 4)
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
	a := make(graph.Assignment, n)
	for i := range n {
		edges[i] = lethe.Edge{A: uint32(i), B: uint32((i + 1) % n)}
		a[i] = lethe.ShardID(i / (n / 4))
	}
	g, err := graph.New(n, edges, make([]uint8, n), 1)
	require.NoError(t, err)
	for seed := range uint64(5) {
		got := append(graph.Assignment(nil), a...)
		c := Config{Shards: 4, Seed: seed, Sweeps: 40}
		made, err := Refine(t.Context(), coarsened(t, g, c), got, c)
		require.NoError(t, err)
		require.Positive(t, made)
		require.Equal(t, 4, g.CutEdges(got))
	}
}

// The descent ends where no exchange of two nodes saves an edge.
func TestDescentEndsAtAnOptimum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 20)
		shards := rapid.IntRange(2, 4).Draw(rt, "shards")
		requireDescent(rt, g, graphtest.DrawAssignment(rt, g.N(), shards), shards)
	})
}

// A graph that takes several sweeps.
func TestDescentGoesOnWhileItSaves(t *testing.T) {
	g := graphtest.Planted(t, 200)
	a := randomShards(t, g, 4)
	requireDescent(t, g, a, 4)
}

// requireDescent checks that no exchange saves a cut edge after a descent.
func requireDescent(t require.TestingT, g *graph.Graph, a graph.Assignment, shards int) {
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
