package partition

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// Float64 code is held to these limits, not to those of the file, which are for
// float32.
const (
	goldenRelative = 1e-9
	goldenAbsolute = 1e-10
)

type goldenTensor struct {
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(sharedFolder(t, "LETHE_GOLDEN", "golden"), name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}

func requireClose(t *testing.T, want, got []float64, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for i := range want {
		limit := goldenAbsolute + goldenRelative*math.Abs(want[i])
		require.LessOrEqual(t, math.Abs(got[i]-want[i]), limit, "%s[%d]: got %v, want %v", what, i, got[i], want[i])
	}
}

// listedEdges turns an edge index that lists both directions into edges.
func listedEdges(index [2][]uint32) []lethe.Edge {
	edges := make([]lethe.Edge, len(index[0]))
	for k := range edges {
		edges[k] = lethe.Edge{A: index[0][k], B: index[1][k]}
	}
	return edges
}

func TestGoldenScores(t *testing.T) {
	var file struct {
		Scores []struct {
			Name       string
			NumNodes   int         `json:"num_nodes"`
			NumShards  int         `json:"num_shards"`
			NumClasses int         `json:"num_classes"`
			EdgeIndex  [2][]uint32 `json:"edge_index"`
			Y          []int
			Assignment Assignment
			Expect     struct {
				ShardSizes []int        `json:"shard_sizes"`
				Counts     goldenTensor `json:"label_counts"`
				Balance    float64      `json:"balance_score"`
				Fairness   float64      `json:"fairness_score"`
				CutEdges   int          `json:"cut_edges"`
				TotalEdges int          `json:"total_edges"`
				CutRatio   float64      `json:"cut_ratio"`
			}
		}
	}
	readGolden(t, "partition.json", &file)
	require.NotEmpty(t, file.Scores)
	for _, c := range file.Scores {
		t.Run(c.Name, func(t *testing.T) {
			g, err := NewGraph(c.NumNodes, listedEdges(c.EdgeIndex), classesOf(c.Y), c.NumClasses)
			require.NoError(t, err)
			s, err := Score(g, c.Assignment, c.NumShards)
			require.NoError(t, err)
			require.Equal(t, c.Expect.ShardSizes, s.Sizes)
			require.Equal(t, c.Expect.CutEdges, s.CutEdges)
			require.Equal(t, c.Expect.TotalEdges, s.Edges)
			var counts []float64
			for _, row := range s.ClassCounts {
				for _, count := range row {
					counts = append(counts, float64(count))
				}
			}
			require.Equal(t, c.Expect.Counts.Data, counts)
			requireClose(t, []float64{c.Expect.Balance, c.Expect.Fairness, c.Expect.CutRatio},
				[]float64{s.Balance, s.Fairness, s.EdgeCut}, "balance, fairness, cut")
		})
	}
}

func classesOf(y []int) []uint8 {
	classes := make([]uint8, len(y))
	for i := range y {
		classes[i] = uint8(y[i])
	}
	return classes
}

func TestGoldenPowerIteration(t *testing.T) {
	var file struct {
		GPFB []struct {
			Name       string
			NumNodes   int `json:"num_nodes"`
			NumShards  int `json:"num_shards"`
			NumClasses int `json:"num_classes"`
			Alpha      float64
			Matrix     string
			W          struct {
				I, J  []uint32
				Value []float64
			}
			Y      []int
			Shift  float64
			H0     goldenTensor
			Expect struct {
				Objective  []float64
				Iterations []struct {
					P, H           goldenTensor
					SingularValues []float64 `json:"singular_values"`
				}
			}
		}
	}
	readGolden(t, "partition.json", &file)
	require.NotEmpty(t, file.GPFB)
	for _, c := range file.GPFB {
		t.Run(c.Name, func(t *testing.T) {
			edges := listedEdges([2][]uint32{c.W.I, c.W.J})
			g, err := NewGraph(c.NumNodes, edges, classesOf(c.Y), c.NumClasses)
			require.NoError(t, err)
			op := newOperator(g, weightsOf(g, edges, c.W.Value), Options{Alpha: c.Alpha, Shards: c.NumShards, Unnormalised: c.Matrix == "unnormalised"})
			requireClose(t, []float64{c.Shift}, []float64{op.shift}, "shift")

			h := c.H0.Data
			p := make([]float64, len(h))
			factor := newPolar(c.NumNodes, c.NumShards)
			objective := append(make([]float64, 0, 1+len(c.Expect.Iterations)), op.apply(p, h))
			for k, want := range c.Expect.Iterations {
				requireClose(t, want.P.Data, p, "P")
				require.NoError(t, factor.of(h, p))
				requireClose(t, want.H.Data, h, "H")
				for j, sigma := range want.SingularValues {
					got := math.Sqrt(factor.values[c.NumShards-1-j])
					requireClose(t, []float64{sigma}, []float64{got}, "singular value")
				}
				objective = append(objective, op.apply(p, h))
				require.GreaterOrEqual(t, objective[k+1], objective[k])
			}
			requireClose(t, c.Expect.Objective, objective, "objective")
		})
	}
}

// weightsOf orders the weights of edges as the graph orders neighbours.
func weightsOf(g *Graph, edges []lethe.Edge, values []float64) []float64 {
	weights := make([]float64, len(g.neighbours))
	for k, e := range edges {
		for _, end := range [][2]uint32{{e.A, e.B}, {e.B, e.A}} {
			for at := g.start[end[0]]; at < g.start[end[0]+1]; at++ {
				if g.neighbours[at] == end[1] {
					weights[at] = values[k]
				}
			}
		}
	}
	return weights
}
