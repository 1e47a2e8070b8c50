package trainer

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// sliceSpec shapes a made-up slice.
type sliceSpec struct {
	timestep               lethe.Timestep
	shard                  lethe.ShardID
	nodes, features, stubs int
	unlabelled             bool
}

// bell returns a number with mean 0 and variance 1 from sums alone, so that the
// same data arise on every architecture (Draw.Normal takes a logarithm).
func bell(d *lethe.Draw) float32 {
	return 2 * (d.Float32() + d.Float32() + d.Float32() - 1.5)
}

// makeSlice returns a slice whose labels can be learned from its features.
func makeSlice(s sliceSpec) *lethe.Slice {
	d := lethe.NewDraw(5, "test slice", uint64(s.timestep), uint64(s.shard))
	out := &lethe.Slice{Timestep: s.timestep, Previous: s.timestep - 1, Shard: s.shard, FeatureCount: s.features}
	for i := range s.nodes {
		out.Nodes = append(out.Nodes, lethe.Pseudonym{byte(s.timestep), byte(i >> 8), byte(i)})
		label := lethe.Label(d.IntN(lethe.NumLabels))
		if s.unlabelled {
			label = lethe.Unknown
		}
		out.Labels = append(out.Labels, label)
		for f := range s.features {
			v := bell(d)
			if f < 3 && label == lethe.Illicit {
				v += 2
			}
			out.Features = append(out.Features, v)
		}
		if i > 0 {
			out.Edges = append(out.Edges, lethe.Edge{A: uint32(d.IntN(i)), B: uint32(i)})
		}
	}
	for i := range s.stubs {
		out.Stubs = append(out.Stubs, lethe.Stub{Owner: uint32(i * s.nodes / s.stubs), Lambda: d.Float32()})
	}
	return out
}

func makeWindow(shard lethe.ShardID, slices, nodes, features int) []*lethe.Slice {
	out := make([]*lethe.Slice, 0, slices)
	for i := range slices {
		out = append(out, makeSlice(sliceSpec{
			timestep: lethe.Timestep(i + 1), shard: shard, nodes: nodes + i%7, features: features, stubs: 14,
		}))
	}
	return out
}

// with returns a model's defaults with changes.
func with(model string, change func(c *Config)) Config {
	c := DefaultsOf(model)
	change(&c)
	return c
}

func newEngine(t testing.TB, c Config, k kernels.Set) *Engine {
	t.Helper()
	e, err := NewEngine(c, k)
	require.NoError(t, err)
	return e
}

// illicit is the probability of class 1 of two, row by row.
func illicit(t testing.TB, e *Engine, c *Checkpoint, in Input) []float32 {
	t.Helper()
	p, err := e.Probabilities(context.Background(), c, in)
	require.NoError(t, err)
	for i := range in.Rows {
		p[i] = p[2*i+1]
	}
	return p[:in.Rows]
}

// kernelSets returns every set that this processor can run.
func kernelSets(t testing.TB) []kernels.Set {
	t.Helper()
	sets := []kernels.Set{kernels.Portable()}
	if k := kernels.Default(); k.Name != kernels.PortableName {
		sets = append(sets, k)
	}
	return sets
}

func randomMatrix(rows, cols int, seed uint64) kernels.Matrix {
	d := lethe.NewDraw(seed, "test matrix")
	m := kernels.Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
	for i := range m.Data {
		m.Data[i] = bell(d)
	}
	return m
}

// A citation graph has more than two classes, one slice and many passes.
func TestSeveralClasses(t *testing.T) {
	const classes = 5
	var seen []Progress
	e := newEngine(t, with(models.EllipticGIN, func(c *Config) {
		c.Classes, c.Hidden, c.Passes, c.LearningRate = classes, 16, 60, 0.01
	}), kernels.Default())
	e.Observe(func(p Progress) { seen = append(seen, p) })
	require.Equal(t, EqualClasses, e.Config().classWeights())
	s := makeSlice(sliceSpec{timestep: 1, nodes: 80, features: classes})
	for i := range s.Labels {
		s.Labels[i] = lethe.Label(i%classes + 1)
		s.Row(i)[i%classes] += 6
	}
	c, report, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{s})
	require.NoError(t, err)
	require.Len(t, seen, report.Steps)
	require.Equal(t, Progress{Timestep: 1, Epoch: 59, Loss: report.FinalLoss}, seen[59])

	p, err := e.Probabilities(context.Background(), c,
		Input{Rows: 80, Cols: classes, Features: s.Features, Edges: s.Edges})
	require.NoError(t, err)
	require.Len(t, p, 80*classes)
	right := 0
	for i := range s.Labels {
		row, sum := p[i*classes:(i+1)*classes], float32(0)
		best := 0
		for class, v := range row {
			sum += v
			if v > row[best] {
				best = class
			}
		}
		require.InDelta(t, 1, sum, 1e-6)
		if lethe.Label(best+1) == s.Labels[i] {
			right++
		}
	}
	require.Greater(t, right, 60)
	s.Labels[3] = classes + 1
	_, _, err = e.Train(context.Background(), 0, nil, []*lethe.Slice{s})
	require.ErrorIs(t, err, ErrInvalidSlice)
}

// A capacity holds the rows, and wastes little of a large graph's memory.
func TestCapacity(t *testing.T) {
	for rows, want := range map[int]int{0: 32, 1: 32, 33: 64, 300: 512, 512: 512, 513: 1024, 4159: 4608} {
		require.Equal(t, want, capacityFor(rows), "%d rows", rows)
	}
}
