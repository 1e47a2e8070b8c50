package similarity_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/golden"
	"lethe/lab/similarity"
)

type goldenKernel struct {
	D      int
	Graphs []struct {
		Name        string
		NumNodes    int         `json:"num_nodes"`
		EdgeIndex   [2][]uint32 `json:"edge_index"`
		Eigenvalues []float64   `json:"eigenvalues_by_magnitude"`
		Embedding   golden.Tensor
	}
	Pairs []struct {
		A, B    int
		ByLevel map[string]struct {
			I          []float64
			K          float64
			Normalised float64 `json:"k_normalised"`
		} `json:"by_finest_level"`
	}
}

// denseLimits makes every reference graph go through both eigensolvers.
var denseLimits = map[string]int{"dense": 100, "krylov": 1}

func (g goldenKernel) edges(i int) []lethe.Edge {
	index := g.Graphs[i].EdgeIndex
	edges := make([]lethe.Edge, len(index[0]))
	for e := range edges {
		edges[e] = lethe.Edge{A: index[0][e], B: index[1][e]}
	}
	return edges
}

func TestGoldenEmbedding(t *testing.T) { golden.Each(t, "kernel.json", compareEmbeddings) }

func compareEmbeddings(t *testing.T, file goldenKernel) {
	require.NotEmpty(t, file.Graphs)
	for solver, limit := range denseLimits {
		for i, g := range file.Graphs {
			t.Run(solver+"/"+g.Name, func(t *testing.T) {
				shape := similarity.Config{Dimensions: file.D, Levels: 1, DenseLimit: limit}
				e, err := similarity.Embed(g.NumNodes, file.edges(i), shape)
				require.NoError(t, err)
				require.Len(t, e.Values, min(file.D, g.NumNodes))
				for j, value := range e.Values {
					golden.Near(t, g.Eigenvalues[j], value, "eigenvalue "+strconv.Itoa(j))
				}
				require.Equal(t, []int{e.NumNodes, e.Dimensions}, g.Embedding.Shape)
				for j, want := range g.Embedding.Data {
					golden.Near(t, want, e.Entries[j], "entry "+strconv.Itoa(j))
				}
			})
		}
	}
}

func TestGoldenKernel(t *testing.T) { golden.Each(t, "kernel.json", compareKernels) }

func compareKernels(t *testing.T, file goldenKernel) {
	require.NotEmpty(t, file.Pairs)
	for solver, limit := range denseLimits {
		histogram := func(t *testing.T, i, levels int) *similarity.Histogram {
			shape := similarity.Config{Dimensions: file.D, Levels: levels, DenseLimit: limit}
			h, err := similarity.HistogramOf(file.Graphs[i].NumNodes, file.edges(i), shape)
			require.NoError(t, err)
			return h
		}
		for _, pair := range file.Pairs {
			for level, want := range pair.ByLevel {
				t.Run(solver+"/"+file.Graphs[pair.A].Name+file.Graphs[pair.B].Name+"/"+level, func(t *testing.T) {
					levels, err := strconv.Atoi(level)
					require.NoError(t, err)
					a, b := histogram(t, pair.A, levels), histogram(t, pair.B, levels)
					matches, err := similarity.Intersections(a, b)
					require.NoError(t, err)
					require.Equal(t, want.I, matches)
					k, err := similarity.Kernel(a, b)
					require.NoError(t, err)
					require.Equal(t, want.K, k)
					normalised, err := similarity.Normalised(a, b)
					require.NoError(t, err)
					golden.Near(t, want.Normalised, normalised, "normalised")
				})
			}
		}
	}
}
