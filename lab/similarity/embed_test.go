package similarity_test

import (
	"cmp"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/lab/similarity"
	"lethe/scoring/graphtest"
)

func embed(t require.TestingT, n int, edges []lethe.Edge, opts similarity.Config) *similarity.Embedding {
	e, err := similarity.Embed(n, edges, opts)
	require.NoError(t, err)
	return e
}

// denseUpTo is the default shape with another limit of the dense solver; 0 is the
// default.
func denseUpTo(nodes int) similarity.Config {
	shape := similarity.Defaults()
	shape.DenseLimit = cmp.Or(nodes, shape.DenseLimit)
	return shape
}

func histogram(t require.TestingT, n int, edges []lethe.Edge) *similarity.Histogram {
	h, err := similarity.HistogramOf(n, edges, similarity.Defaults())
	require.NoError(t, err)
	return h
}

// Columns of an eigenspace that is wholly inside the embedding have unit
// length, whatever the ties.
func TestColumnsAreUnitVectors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Graphs(20).Draw(rt, "graph")
		e := embed(rt, g.N, g.Edges, similarity.Defaults())
		require.Len(rt, e.Values, min(g.N, e.Dimensions))
		for d := range e.Dimensions {
			sum := 0.0
			for i := range g.N {
				sum += e.Row(i)[d] * e.Row(i)[d]
			}
			want := 1.0
			if d >= g.N {
				want = 0
			}
			require.InDelta(rt, want, sum, 1e-9, "column %d", d)
		}
		for d := 1; d < len(e.Values); d++ {
			require.LessOrEqual(rt, math.Abs(e.Values[d]), math.Abs(e.Values[d-1])+1e-6)
		}
	})
}

func TestSolversAgree(t *testing.T) {
	same := func(t require.TestingT, n int, edges []lethe.Edge) {
		dense := embed(t, n, edges, denseUpTo(2000))
		krylov := embed(t, n, edges, denseUpTo(1))
		require.InDeltaSlice(t, dense.Values, krylov.Values, 1e-8)
		require.InDeltaSlice(t, dense.Entries, krylov.Entries, 1e-6)
		require.LessOrEqual(t, krylov.Residual, 1e-10)
	}
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Graphs(20).Draw(rt, "graph")
		if g.N > 0 {
			same(rt, g.N, g.Edges)
		}
	})
	same(t, 300, graphtest.Hubs(300, 360, 1))
	same(t, 300, graphtest.Even(300, 400, 1))
	n, joined := graphtest.Stars(12, 20)
	same(t, n, joined) // ±sqrt(20), eleven times each
	n, joined = graphtest.Stars(1, 250)
	same(t, n, joined) // rank 4 only: the rest is the null space
}

// A star with a long tail among complete graphs of four: one end of the
// component looks harmless, but it must not be passed over.
func TestEveryComponentThatMattersIsSeen(t *testing.T) {
	var edges []lethe.Edge
	for leaf := uint32(1); leaf <= 20; leaf++ {
		edges = append(edges, lethe.Edge{A: 0, B: leaf})
	}
	for i := uint32(20); i < 24; i++ {
		edges = append(edges, lethe.Edge{A: i, B: i + 1})
	}
	n := uint32(25)
	for range 8 {
		for a := range uint32(4) {
			for b := range a {
				edges = append(edges, lethe.Edge{A: n + b, B: n + a})
			}
		}
		n += 4
	}
	e := embed(t, int(n), edges, similarity.Defaults())
	require.InDelta(t, math.Sqrt(20), e.Values[0], 0.1)
	require.InDelta(t, -e.Values[0], e.Values[1], 1e-12, "a tree is bipartite")
	require.InDeltaSlice(t, []float64{3, 3, 3, 3}, e.Values[2:], 1e-12)
	// Eight graphs share the eigenspace of 3: 1/2 over sqrt(8).
	require.InDelta(t, 0.5/math.Sqrt(8), e.Row(25)[2], 1e-12)
}

// The pseudonyms decide the order of the nodes, so a histogram must not.
func TestNumberingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Graphs(24).Draw(rt, "graph")
		to := graphtest.Permutation(g.N, rapid.Uint64().Draw(rt, "permutation"))
		require.Equal(rt, histogram(rt, g.N, g.Edges), histogram(rt, g.N, graphtest.Relabel(g.Edges, to)))
	})
	for seed := range uint64(3) {
		edges := graphtest.Hubs(600, 700, seed)
		want := histogram(t, 600, edges)
		require.Equal(t, want, histogram(t, 600, graphtest.Relabel(edges, graphtest.Permutation(600, seed+10))))
	}
}

func TestRepeatedAndReversedEdgesCountOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Graphs(12).Draw(rt, "graph")
		twice := append([]lethe.Edge(nil), g.Edges...)
		for _, e := range g.Edges {
			twice = append(twice, lethe.Edge{A: e.B, B: e.A})
		}
		require.Equal(rt, histogram(rt, g.N, g.Edges), histogram(rt, g.N, twice))
	})
}

func TestBytesDoNotDependOnThreads(t *testing.T) {
	bytes := func(threads int) [][]byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		shapes := []graphtest.Graph{
			{N: 36, Edges: graphtest.Hubs(36, 42, 3)},
			{N: 100, Edges: graphtest.Even(100, 160, 3)},
			{N: 900, Edges: graphtest.Hubs(900, 1100, 3)},
			{N: 100, Edges: graphtest.Even(100, 2000, 3)}, // one dense component of the full limit
		}
		out := make([][]byte, 0, len(shapes))
		for _, g := range shapes {
			data, err := histogram(t, g.N, g.Edges).MarshalBinary()
			require.NoError(t, err)
			out = append(out, data)
		}
		return out
	}
	require.Equal(t, bytes(1), bytes(2))

	// Large enough for the dense solver to multiply matrices on all threads.
	large := func(threads int) *similarity.Embedding {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		return embed(t, 200, graphtest.Even(200, 4000, 3), denseUpTo(200))
	}
	require.Equal(t, large(1), large(2))
}

// Paths and rings of thousands of nodes have next to no gaps between their
// leading eigenvalues, which are known: 2 cos(kπ/(n+1)), and 2 cos(2πk/n), all
// but ±2 twice.
func TestEigenvaluesCloseTogether(t *testing.T) {
	const n = 2000
	along := embed(t, n, graphtest.Path(n), similarity.Defaults())
	require.LessOrEqual(t, along.Residual, 1e-10)
	for column, value := range along.Values {
		k := float64(column/2 + 1)
		require.InDelta(t, 2*math.Cos(k*math.Pi/(n+1)), math.Abs(value), 1e-9)
		require.Equal(t, column%2 == 0, value > 0, "of a tie, the positive one goes first")
		for i := range n {
			want := math.Sqrt(2.0/(n+1)) * math.Abs(math.Sin(k*math.Pi*float64(i+1)/(n+1)))
			require.InDelta(t, want, along.Row(i)[column], 1e-6)
		}
	}
	if testing.Short() {
		return
	}
	around := embed(t, n, append(graphtest.Path(n), lethe.Edge{A: 0, B: n - 1}), similarity.Defaults())
	second := 2 * math.Cos(2*math.Pi/n)
	require.InDeltaSlice(t, []float64{2, -2, second, second, -second, -second}, around.Values, 1e-9)
	for i := range n {
		// Whatever basis of an eigenspace is taken, its mean square is even.
		require.InDelta(t, math.Sqrt(1.0/n), around.Row(i)[2], 1e-6)
	}
	require.Equal(t, around, embed(t, n, append(graphtest.Path(n), lethe.Edge{A: 0, B: n - 1}), similarity.Defaults()))
}

func TestIterationBound(t *testing.T) {
	// More copies of one eigenvalue than the search is ready to take.
	n, joined := graphtest.Stars(130, 4)
	e := embed(t, n, joined, similarity.Defaults())
	require.Equal(t, e, embed(t, n, joined, similarity.Defaults()))
	require.InDelta(t, math.Sqrt(134), e.Values[0], 1e-9, "λ² = stars + leaves of a star")
}

func TestEmbedRefuses(t *testing.T) {
	for name, call := range map[string]func() (*similarity.Embedding, error){
		"edge 1 joins 2 and 2 of 3 nodes": func() (*similarity.Embedding, error) {
			return similarity.Embed(3, []lethe.Edge{{A: 0, B: 1}, {A: 2, B: 2}}, similarity.Defaults())
		},
		"edge 0 joins 0 and 3 of 3 nodes": func() (*similarity.Embedding, error) {
			return similarity.Embed(3, []lethe.Edge{{A: 0, B: 3}}, similarity.Defaults())
		},
		"graph has -1 nodes, want 0 to 2147483647": func() (*similarity.Embedding, error) {
			return similarity.Embed(-1, nil, similarity.Defaults())
		},
		"pyramid: dimensions is 17, want 1 to 16\nlevels is -1, want 1 to 12\n" +
			"dense_limit is 2001, want 1 to 2000": func() (*similarity.Embedding, error) {
			return similarity.Embed(3, nil, similarity.Config{Dimensions: 17, Levels: -1, DenseLimit: 2001})
		},
	} {
		_, err := call()
		require.EqualError(t, err, name)
	}
}
