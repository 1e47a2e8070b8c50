package partition

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/internal/planted"
)

func plantedGraph(t testing.TB, nodes int) *Graph {
	t.Helper()
	spec := planted.Large(nodes, 1)
	edges, classes := spec.Graph()
	g, err := NewGraph(nodes, edges, classes, len(spec.ClassShares))
	require.NoError(t, err)
	return g
}

// Graphs of a few hundred nodes have several levels with few shards.
func TestEveryMultilevelPartitionIsEven(t *testing.T) {
	shape := map[string]func(rt *rapid.T, n int) []lethe.Edge{
		"random":   drawEdges,
		"isolated": func(*rapid.T, int) []lethe.Edge { return nil },
		"star": func(_ *rapid.T, n int) (edges []lethe.Edge) {
			for i := 1; i < n; i++ {
				edges = append(edges, lethe.Edge{A: uint32(i % 3), B: uint32(i)})
			}
			return withoutLoops(edges)
		},
		"pairs": func(_ *rapid.T, n int) (edges []lethe.Edge) {
			for i := 1; i < n; i += 2 {
				edges = append(edges, lethe.Edge{A: uint32(i - 1), B: uint32(i)})
			}
			return edges
		},
		"complete": func(_ *rapid.T, n int) (edges []lethe.Edge) {
			for i := range uint32(min(n, 60)) {
				for j := range i {
					edges = append(edges, lethe.Edge{A: i, B: j})
				}
			}
			return edges
		},
	}
	for name, edges := range shape {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				n := rapid.IntRange(4, 200).Draw(rt, "nodes")
				classes := rapid.SliceOfN(rapid.SampledFrom([]uint8{0, 0, 0, 1, 3}), n, n).Draw(rt, "class")
				g, err := NewGraph(n, edges(rt, n), classes, 5)
				require.NoError(rt, err)
				opts := drawOptions(rt, g)
				opts.NoRefine = false
				opts.Slack = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(rt, "slack")
				opts.Shards = rapid.SampledFrom([]int{1, 2, 3, n, n + 2}).Draw(rt, "shards")
				_, report, err := Run(t.Context(), g, opts)
				require.NoError(rt, err)
				requireSlack(rt, newQuotas(g, opts.Shards), report.Scores, opts.Slack)
				if opts.Slack == 0 {
					requireEven(rt, report.Scores)
				}
				require.LessOrEqual(rt, report.Scores.CutEdges, report.ProposedCut)
			})
		})
	}
}

func withoutLoops(edges []lethe.Edge) []lethe.Edge {
	kept := edges[:0]
	for _, e := range edges {
		if e.A != e.B {
			kept = append(kept, e)
		}
	}
	return kept
}

func TestMultilevelOnAnyProcessors(t *testing.T) {
	g := plantedGraph(t, 4_000)
	for _, method := range []string{MethodGPFBFast, MethodRandom} {
		sameOnAnyProcessors(t, g, Options{Shards: 4, Seed: 5, Method: method, RefineSweeps: 5})
	}
}

// Of the edges of a planted graph a fifth leave their community, and a twentieth
// of those stay in the shard: no partition that keeps communities together cuts
// fewer than about .19. Plain gpfb-fast embeds clusters at this size if asked.
func TestPlantedCommunitiesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("50,000 nodes")
	}
	g := plantedGraph(t, 50_000)
	for _, method := range []string{MethodGPFBFast, MethodRandom} {
		_, report, err := Run(t.Context(), g, Options{Shards: 20, Method: method})
		require.NoError(t, err)
		requireEven(t, report.Scores)
		t.Logf("%s: proposed %d, cut %.4f", method, report.ProposedCut, report.Scores.EdgeCut)
		require.LessOrEqual(t, report.Scores.EdgeCut, 0.27)
	}
}

// On clusters of one node the operator of clusters is that of the graph.
func TestCoarseOperatorOnTheGraphItself(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt, 20)
		v := rapid.IntRange(1, 3).Draw(rt, "columns")
		if g.N() <= v {
			return
		}
		fine := newOperator(g, unitWeights(g), Options{Alpha: 0.1, Shards: v})
		coarse := newCoarseOperator(&hierarchy{g: g, levels: []*level{finestLevel(g)}}, 0.1, v)
		e, err := coarse.startEmbedding(1)
		require.NoError(rt, err)
		h := e.Values
		want, got := make([]float64, len(h)), make([]float64, len(h))
		require.InDelta(rt, fine.apply(want, h), coarse.apply(got, h), 1e-12)
		require.InDeltaSlice(rt, want, got, 1e-12)
		fine.smooth(want, h)
		coarse.smooth(got, h)
		require.InDeltaSlice(rt, want, got, 1e-12)
	})
}

// A row that stands for a cluster counts as the equal rows of its nodes, each
// over the root of the size: the class sums are those of the graph.
func TestCoarseClassSumsAreThoseOfTheGraph(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt, 20)
		cluster, count := drawClusters(rt, g.N())
		h := &hierarchy{g: g, levels: []*level{finestLevel(g), finestLevel(g).contract(cluster, count, g.NumClasses())}}
		op := newCoarseOperator(h, 0.1, 1)
		coarse := make([]float64, count)
		want := make([]float64, g.NumClasses())
		for c := range coarse {
			coarse[c] = rapid.Float64Range(-1, 1).Draw(rt, "row")
		}
		for i, c := range cluster {
			want[g.Class(i)] += coarse[c] / op.size[c]
		}
		op.sumClasses(coarse)
		require.InDeltaSlice(rt, want, op.sums, 1e-12)
	})
}

func TestPlainGPFBOfLargeGraphsEmbedsClusters(t *testing.T) {
	if testing.Short() {
		t.Skipf("%d nodes", plainLimit+1)
	}
	g := plantedGraph(t, plainLimit+1)
	_, report, err := Run(t.Context(), g, Options{Shards: 20, NoRefine: true, Sweeps: 20})
	require.NoError(t, err)
	requireEven(t, report.Scores)
	require.Len(t, report.Objective, report.Iterations+1)
	require.Less(t, report.Scores.EdgeCut, 0.6, "random cuts .95")
}

func BenchmarkMultilevel(b *testing.B) {
	g := plantedGraph(b, 50_000)
	for _, method := range []string{MethodGPFBFast, MethodRandom} {
		b.Run(method, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, report, err := Run(b.Context(), g, Options{Shards: 20, Method: method})
				require.NoError(b, err)
				b.ReportMetric(report.Scores.EdgeCut, "cut")
			}
		})
	}
}

func BenchmarkCoarsen(b *testing.B) {
	g := plantedGraph(b, 50_000)
	b.ReportAllocs()
	for b.Loop() {
		_, err := coarsen(b.Context(), g, Options{Shards: 20})
		require.NoError(b, err)
	}
}

// BenchmarkRefineSweep is one annealing sweep over the nodes of the graph.
func BenchmarkRefineSweep(b *testing.B) {
	g := plantedGraph(b, 50_000)
	q := newQuotas(g, 20)
	a, err := randomMethod{}.propose(b.Context(), g, q, Options{Shards: 20}, nil)
	require.NoError(b, err)
	m := newMoves(finestLevel(g), a, q)
	b.ReportAllocs()
	for draw := lethe.NewDraw(1, "bench"); b.Loop(); {
		m.sweep(0.5, draw)
	}
}
