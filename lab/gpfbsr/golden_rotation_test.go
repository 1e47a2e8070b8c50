package gpfbsr

import (
	"testing"

	"lethe/internal/golden"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition/gpfb"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

type goldenRotation struct {
	Name        string
	NumNodes    int         `json:"num_nodes"`
	EdgeIndex   [2][]uint32 `json:"edge_index"`
	Kept        []uint32
	NumShards   int `json:"num_shards"`
	NumClasses  int `json:"num_classes"`
	Alpha, Beta float64
	// Labels and Shards refer to the kept nodes.
	Labels []int `json:"y"`
	Shift  float64
	H      golden.Tensor
	Shards []int `json:"Y"`
	Expect struct {
		Degree []float64
		R      golden.Tensor
		HStep  struct {
			Printed, Rotated struct {
				P, H      golden.Tensor
				Objective []float64
			}
		} `json:"h_step"`
		HTilde golden.Tensor `json:"H_tilde"`
		Gs     golden.Tensor `json:"g"`
		Ascent struct {
			Objective []float64
			Passes    []struct {
				C          golden.Tensor
				Assignment graph.Assignment
				Changed    int
			}
		} `json:"y_step_ascent"`
	}
}

// The file tells y from Y and g from G; encoding/json prefers the exact name.
type goldenRotationFile struct {
	SR []goldenRotation `json:"gpfb_sr"`
}

func TestGoldenRotation(t *testing.T) {
	golden.Each(t, "partition.json", func(t *testing.T, file goldenRotationFile) {
		require.NotEmpty(t, file.SR)
		for _, c := range file.SR {
			t.Run(c.Name, func(t *testing.T) {
				g := c.connectedGraph(t)
				t.Run("rotation", func(t *testing.T) { c.requireRotation(t, g) })
				t.Run("embedding", func(t *testing.T) { c.requireEmbedding(t, g) })
				t.Run("indicator", func(t *testing.T) { c.requireIndicator(t, g) })
			})
		}
	})
}

// connectedGraph builds the graph of the kept nodes as gpfb-sr does.
func (c *goldenRotation) connectedGraph(t *testing.T) *graph.Graph {
	classes := make([]uint8, c.NumNodes)
	for at, i := range c.Kept {
		classes[i] = uint8(c.Labels[at])
	}
	g, err := graph.New(c.NumNodes, graphtest.ListedEdges(c.EdgeIndex), classes, c.NumClasses)
	require.NoError(t, err)
	inner := g.WithoutIsolated()
	require.Equal(t, c.Kept, inner.Kept)
	return inner.Graph
}

// state is gpfb-sr's at the point that the case describes.
func (c *goldenRotation) state(g *graph.Graph) *rotation {
	n, v := len(c.Kept), c.NumShards
	y := make(graph.Assignment, n)
	for i, s := range c.Shards {
		y[i] = lethe.ShardID(s)
	}
	cfg := Config{Config: gpfb.Config{Alpha: c.Alpha}, Beta: c.Beta, Unnormalised: true}
	return newRotationState(g, append([]float64(nil), c.H.Data...), y, v, cfg)
}

func (c *goldenRotation) requireRotation(t *testing.T, g *graph.Graph) {
	s := c.state(g)
	require.NoError(t, s.rotate(c.Beta))
	graphtest.RequireClose(t, c.Expect.Degree, s.indicator.degree, "degree")
	graphtest.RequireClose(t, c.Expect.R.Data, s.r, "R")
	s.project()
	graphtest.RequireClose(t, c.Expect.HTilde.Data, s.hr, "HR")
	graphtest.RequireClose(t, c.Expect.Gs.Data, s.indicator.g, "D^-1/2 HR")
}

func (c *goldenRotation) requireEmbedding(t *testing.T, g *graph.Graph) {
	s := c.state(g)
	graphtest.RequireClose(t, []float64{c.Shift}, []float64{s.op.shift}, "shift")
	require.NoError(t, s.rotate(c.Beta))
	for _, form := range []string{"rotated", "printed"} {
		want := c.Expect.HStep.Rotated
		if form == "printed" { // β G in place of β G Rᵀ, to see that the rest is the paper's
			want = c.Expect.HStep.Printed
			clear(s.r)
			for j := range c.NumShards {
				s.r[j*c.NumShards+j] = 1
			}
		}
		copy(s.h, c.H.Data)
		before := s.op.Apply(s.p, s.h)
		graphtest.RequireClose(t, want.P.Data, s.p, form+" P")
		require.NoError(t, s.tall.Of(s.h, s.p))
		graphtest.RequireClose(t, want.H.Data, s.h, form+" H")
		graphtest.RequireClose(t, want.Objective, []float64{before, s.op.Apply(s.p, s.h)}, form+" objective")
	}
}

func (c *goldenRotation) requireIndicator(t *testing.T, g *graph.Graph) {
	s := c.state(g)
	require.NoError(t, s.rotate(c.Beta))
	s.project()
	y := s.indicator
	objective := []float64{y.objective()}
	for _, want := range c.Expect.Ascent.Passes {
		var gains []float64
		changed := y.pass(func(_ int, c []float64) { gains = append(gains, c...) })
		if len(want.C.Data) > 0 { // the file lists those of the first pass only
			graphtest.RequireClose(t, want.C.Data, gains, "gains")
		}
		require.Equal(t, want.Assignment, y.y)
		require.Equal(t, want.Changed, changed)
		objective = append(objective, y.objective())
	}
	graphtest.RequireClose(t, c.Expect.Ascent.Objective, objective, "objective")
	require.IsNonDecreasing(t, objective)
}

// objective returns Σ_j a_j / sqrt(b_j).
func (d *indicator) objective() float64 {
	sum := 0.0
	for j := range d.a {
		sum += quotient(d.a[j], d.rootB[j])
	}
	return sum
}
