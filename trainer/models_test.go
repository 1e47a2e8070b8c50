package trainer

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"

	"lethe"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// communitySlice has four classes whose nodes are joined among themselves and
// have words of their own, so that every model can learn it. Its features are
// sparse.
func communitySlice(timestep lethe.Timestep) *lethe.Slice {
	const nodes, classes, words = 120, 4, 80
	d := lethe.NewDraw(21, "community slice", uint64(timestep))
	s := &lethe.Slice{Timestep: timestep, Previous: timestep - 1, FeatureCount: words,
		Features: make([]float32, nodes*words)}
	for i := range nodes {
		class := i % classes
		s.Nodes = append(s.Nodes, lethe.Pseudonym{byte(timestep), byte(i)})
		s.Labels = append(s.Labels, lethe.Label(class+1))
		for range 6 {
			s.Row(i)[class*words/classes+d.IntN(words/classes)] = 1
			s.Row(i)[d.IntN(words)] = 1
		}
		for range min(i/classes, 2) {
			s.Edges = append(s.Edges, lethe.Edge{A: uint32(class + classes*d.IntN(i/classes)), B: uint32(i)})
		}
	}
	return s
}

// perceptron is a network that is passed as an argument: two layers, without the graph.
func perceptron() models.Family {
	return models.Family{
		Name: "perceptron", Widths: models.OneLayer, Reach: func(models.Architecture) int { return 0 },
		Parameters: func(a models.Architecture, l *layers.Layout) {
			l.Linear("lin1", a.Features, a.Widths[0])
			l.Linear("lin2", a.Widths[0], a.Classes)
		},
		Logits: func(n *models.Network) *gorgonia.Node {
			return n.Linear(layers.ReLU(n.Builder, n.Linear(n.Features, "lin1")), "lin2")
		},
	}
}

// withPerceptron returns a configuration of perceptron with changes.
func withPerceptron(change func(c *Config)) Config {
	c := DefaultsOf("perceptron", perceptron())
	change(&c)
	return c
}

// Every model tells classes apart that it has not seen the nodes of.
func TestEveryModelLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every model")
	}
	unseen := communitySlice(2)
	for _, model := range models.Served().Names() {
		e := newEngine(t, with(model, func(c *Config) { c.Classes, c.Hidden, c.Passes, c.LearningRate = 4, 32, 60, 0.01 }),
			kernels.Default())
		c, report, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{communitySlice(1)})
		require.NoError(t, err, model)
		require.Less(t, report.FinalLoss, report.FirstLoss, model)
		p, err := e.Probabilities(context.Background(), c, Input{
			Rows: len(unseen.Nodes), Cols: unseen.FeatureCount, Features: unseen.Features, Edges: unseen.Edges,
		})
		require.NoError(t, err, model)
		right := 0
		for i, label := range unseen.Labels {
			best := 0
			for class := range 4 {
				if p[i*4+class] > p[i*4+best] {
					best = class
				}
			}
			if best == int(label)-1 {
				right++
			}
		}
		require.Greater(t, right, 90, "%s of 120", model)
	}
}

// Sparse features give the loss and the gradients that the same features give as
// a dense leaf, with the same masks.
func TestSparseFeaturesGiveTheSameGradients(t *testing.T) {
	s := communitySlice(1)
	for _, model := range models.Served().Names() {
		e := newEngine(t, with(model, func(c *Config) { c.Classes, c.Hidden, c.LinearSkip = 4, 16, false }),
			kernels.Portable())
		a := e.config.Architecture(s.FeatureCount)
		parameters, _ := e.idle.networks.Tensors(a)
		run := func(form models.Form, b *layers.Batch) *program {
			p, err := compile(models.Served(), programShape{
				architecture: a, settings: e.config.Settings, form: form, capacity: capacityFor(b.Rows), training: true,
			}, e.kernels)
			require.NoError(t, err)
			copy(p.Params.Values, parameters.Fresh(1, 0).Values)
			p.Load(b)
			require.NoError(t, p.run())
			return p
		}
		batches, _, form := e.prepareWindow([]*lethe.Slice{s}, a)
		require.Equal(t, models.Sparse, form)
		dense := *batches[0]
		dense.Features = layers.Features{Dense: kernels.Matrix{Rows: dense.Rows, Cols: s.FeatureCount, Data: s.Features}}
		got, want := run(models.Sparse, batches[0]), run(models.Differentiable, &dense)
		require.InDelta(t, want.loss(), got.loss(), 1e-5, model)
		for i, spec := range want.Params.Layout.Specs {
			require.InDeltaSlice(t, want.gradients[i], got.gradients[i], 2e-4, "%s %s", model, spec.Name)
		}
	}
}

// The whole of each model against central differences along the gradient. They
// cross some of ReLU's kinks, so the bound is wide; a wrong sign or a lost path
// still shows.
func TestModelGradientsMatchFiniteDifferences(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every model many times")
	}
	for _, model := range models.Served().Names() {
		e := newEngine(t, with(model, func(c *Config) { c.Hidden = 16 }), kernels.Default())
		window := []*lethe.Slice{makeSlice(sliceSpec{timestep: 1, nodes: 60, features: 7, stubs: 20})}
		a := e.config.Architecture(7)
		parameters, _ := e.idle.networks.Tensors(a)
		batches, rows, form := e.prepareWindow(window, a)
		p, err := compile(models.Served(), programShape{
			architecture: a, settings: e.config.Settings, form: form, capacity: capacityFor(rows), training: true,
		}, e.kernels)
		require.NoError(t, err)
		copy(p.Params.Values, parameters.Fresh(1, 0).Values)
		p.Load(batches[0])
		loss := func() float64 {
			require.NoError(t, p.run())
			return p.loss()
		}
		for i, spec := range p.Params.Layout.Specs {
			loss()
			grad := append([]float32(nil), p.gradients[i]...)
			size := 0.0
			for _, g := range grad {
				size += float64(g) * float64(g)
			}
			size = math.Sqrt(size)
			if size < 1e-3 {
				continue // a bias in front of a batch norm
			}
			// Along the gradient itself the slope is its length.
			values := p.Params.Slice(i)
			saved := append([]float32(nil), values...)
			at := func(step float64) float64 {
				for j := range values {
					values[j] = saved[j] + float32(step*float64(grad[j])/size)
				}
				return loss()
			}
			const step = 1.0 / 4096
			difference := (at(step) - at(-step)) / (2 * step)
			copy(values, saved)
			require.InEpsilon(t, size, difference, 0.05, "%s %s", model, spec.Name)
		}
	}
}

// A node that goes away, with its stubs, leaves the keys of all other rows.
func TestRowKeysDoNotDependOnOtherNodes(t *testing.T) {
	s := &lethe.Slice{Nodes: []lethe.Pseudonym{{1}, {2}, {3}}, Stubs: []lethe.Stub{
		{Owner: 0, Lambda: 0.5}, {Owner: 1, Lambda: 0.5}, {Owner: 2, Lambda: 0.5}, {Owner: 2, Lambda: 0.5},
		{Owner: 2, Lambda: 0.7},
	}}
	all := rowKeys(s)
	less := rowKeys(&lethe.Slice{Nodes: []lethe.Pseudonym{{1}, {3}}, Stubs: []lethe.Stub{
		{Owner: 0, Lambda: 0.5}, {Owner: 1, Lambda: 0.5}, {Owner: 1, Lambda: 0.5}, {Owner: 1, Lambda: 0.7},
	}})
	require.Equal(t, []uint64{all[0], all[2], all[3], all[5], all[6], all[7]}, less)
	seen := make(map[uint64]bool)
	for _, key := range all {
		seen[key] = true
	}
	require.Len(t, seen, len(all))
}

func TestPatienceEndsTraining(t *testing.T) {
	opts := withPerceptron(func(c *Config) { c.Hidden, c.Passes, c.LearningRate = 8, 500, 0.5 })
	window := makeWindow(1, 1, 30, 5)
	_, all, err := newEngine(t, opts, kernels.Default()).Train(context.Background(), 1, nil, window)
	require.NoError(t, err)
	require.Equal(t, 500, all.Steps)
	opts.Patience = 3
	_, some, err := newEngine(t, opts, kernels.Default()).Train(context.Background(), 1, nil, window)
	require.NoError(t, err)
	require.Less(t, some.Steps, 500)
	require.Greater(t, some.Steps, 3)
}

// A checkpoint of a model of another kind passes through the codec and is
// refused by the engine.
func TestOtherModelsPassThrough(t *testing.T) {
	c := &Checkpoint{Shard: 2, Timestep: 5, Kernels: "none", Model: "trees", Body: []byte("opaque")}
	got, err := DecodeCheckpoint(EncodeCheckpoint(c))
	require.NoError(t, err)
	require.Equal(t, c, got)
	e := newEngine(t, Defaults(), kernels.Portable())
	require.ErrorIs(t, e.Compatible(got), ErrIncompatible)
	_, err = e.Probabilities(context.Background(), got, Input{Rows: 1, Cols: 1, Features: []float32{1}})
	require.ErrorIs(t, err, ErrIncompatible)
}

func TestArchitecturesOutOfBounds(t *testing.T) {
	for problem, c := range map[string]Config{
		`model is "gnn", want one of`:               DefaultsOf("gnn"),
		"classes is 1, want 2 to 255":               with(models.EllipticGIN, func(c *Config) { c.Classes = 1 }),
		"dropout is 0.5, want 0 for model":          with(models.EllipticGIN, func(c *Config) { c.Dropout = 0.5 }),
		"heads is 2, want 0 for model elliptic-gin": with(models.EllipticGIN, func(c *Config) { c.Heads = 2 }),
		"hops is 5000, want 0 to 1024":              with(models.EllipticGIN, func(c *Config) { c.Hops = 5000 }),
		"plain_gin is true, want false":             with(models.EllipticGIN, func(c *Config) { c.PlainGIN = true }),
		"widths is [3 4], want 1 widths":            withPerceptron(func(c *Config) { c.Widths = []int{3, 4} }),
		`components is "sage", want one of`:         with(Blend, func(c *Config) { c.Components = []string{"sage"} }),
		"patience is -1, want at least 0":           with(models.EllipticGIN, func(c *Config) { c.Patience = -1 }),
	} {
		_, err := NewEngine(c, kernels.Portable())
		require.ErrorContains(t, err, problem)
	}
}
