package gpfbsr

import (
	"math"
	"testing"

	"lethe/internal/golden"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition/gpfb"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

type goldenPowerIterationFile struct {
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
		H0     golden.Tensor
		Expect struct {
			Objective  []float64
			Iterations []struct {
				P, H           golden.Tensor
				SingularValues []float64 `json:"singular_values"`
			}
		}
	}
}

func TestGoldenPowerIteration(t *testing.T) {
	golden.Each(t, "partition.json", func(t *testing.T, file goldenPowerIterationFile) {
		require.NotEmpty(t, file.GPFB)
		for _, c := range file.GPFB {
			t.Run(c.Name, func(t *testing.T) {
				edges := graphtest.ListedEdges([2][]uint32{c.W.I, c.W.J})
				g, err := graph.New(c.NumNodes, edges, graphtest.ClassesOf(c.Y), c.NumClasses)
				require.NoError(t, err)
				op := newOperator(g, c.NumShards, Config{Config: gpfb.Config{Alpha: c.Alpha}})
				weights := weightsOf(g, edges, c.W.Value)
				if c.Matrix == "unnormalised" {
					op.unnormalise(weights)
				} else {
					op.shift, op.Weight = op.Diagonal[0], normalised(g, weights)
				}
				graphtest.RequireClose(t, []float64{c.Shift}, []float64{op.shift}, "shift")

				h := c.H0.Data
				p := make([]float64, len(h))
				factor := gpfb.NewPolar(c.NumNodes, c.NumShards)
				objective := append(make([]float64, 0, 1+len(c.Expect.Iterations)), op.Apply(p, h))
				for k, want := range c.Expect.Iterations {
					graphtest.RequireClose(t, want.P.Data, p, "P")
					require.NoError(t, factor.Of(h, p))
					graphtest.RequireClose(t, want.H.Data, h, "H")
					for j, sigma := range want.SingularValues {
						got := math.Sqrt(factor.Values[c.NumShards-1-j])
						graphtest.RequireClose(t, []float64{sigma}, []float64{got}, "singular value")
					}
					objective = append(objective, op.Apply(p, h))
					require.GreaterOrEqual(t, objective[k+1], objective[k])
				}
				graphtest.RequireClose(t, c.Expect.Objective, objective, "objective")
			})
		}
	})
}

// weightsOf orders the weights of edges as the graph orders neighbours.
func weightsOf(g *graph.Graph, edges []lethe.Edge, values []float64) []float64 {
	start, neighbours := g.Rows()
	weights := make([]float64, len(neighbours))
	for k, e := range edges {
		for _, end := range [][2]uint32{{e.A, e.B}, {e.B, e.A}} {
			for at := start[end[0]]; at < start[end[0]+1]; at++ {
				if neighbours[at] == end[1] {
					weights[at] = values[k]
				}
			}
		}
	}
	return weights
}

// normalised returns the entries of D^-1/2 W D^-1/2 for the weights of W.
func normalised(g *graph.Graph, weights []float64) []float64 {
	start, neighbours := g.Rows()
	degree, out := make([]float64, g.N()), make([]float64, len(weights))
	for i := range degree {
		for _, w := range weights[start[i]:start[i+1]] {
			degree[i] += w
		}
	}
	for i := range degree {
		for k := start[i]; k < start[i+1]; k++ {
			out[k] = weights[k] / math.Sqrt(degree[i]*degree[neighbours[k]])
		}
	}
	return out
}
