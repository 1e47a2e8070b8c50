package networks_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/canonical"
	"lethe/lab/networks"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// kernelSets returns every set that this processor can run.
func kernelSets(t testing.TB) []kernels.Set {
	t.Helper()
	sets := []kernels.Set{kernels.Portable()}
	if k := kernels.Default(); k.Name != kernels.PortableName {
		sets = append(sets, k)
	}
	return sets
}

// with returns a network's defaults with changes.
func with(model string, change func(c *trainer.Config)) trainer.Config {
	c := networks.Defaults(model)
	change(&c)
	return c
}

func newEngine(t testing.TB, c trainer.Config, k kernels.Set) *trainer.Engine {
	t.Helper()
	e, err := trainer.NewEngine(c, k)
	require.NoError(t, err)
	return e
}

// train returns what a slice makes of fresh weights.
func train(t testing.TB, e *trainer.Engine, s *lethe.Slice) *trainer.Checkpoint {
	t.Helper()
	c, _, err := e.Train(context.Background(), s.Shard, nil, []*lethe.Slice{s})
	require.NoError(t, err)
	return c
}

// citationSlice is the size of one shard of Cora in twenty shards.
func citationSlice() *lethe.Slice {
	const nodes, features, stubs, classes = 108, 1433, 60, 7
	d := lethe.NewDraw(9, "citation slice")
	s := &lethe.Slice{Previous: lethe.NoTimestep, FeatureCount: features, Features: make([]float32, nodes*features)}
	for i := range nodes {
		s.Nodes = append(s.Nodes, lethe.Pseudonym{byte(i)})
		s.Labels = append(s.Labels, lethe.Label(1+d.IntN(classes)))
		for range features * 13 / 1000 {
			s.Row(i)[d.IntN(features)] = 0.05
		}
		for range min(i, 2) {
			s.Edges = append(s.Edges, lethe.Edge{A: uint32(d.IntN(i)), B: uint32(i)})
		}
	}
	slices.SortFunc(s.Edges, lethe.Edge.Compare)
	s.Edges = slices.Compact(s.Edges)
	for i := range stubs {
		s.Stubs = append(s.Stubs, lethe.Stub{Owner: uint32(i * nodes / stubs), Lambda: d.Float32()})
	}
	return s
}

// denseSlice has two classes, dense features and a tree of edges.
func denseSlice(nodes, features int) *lethe.Slice {
	d := lethe.NewDraw(5, "dense slice")
	s := &lethe.Slice{Timestep: 1, FeatureCount: features}
	for i := range nodes {
		s.Nodes = append(s.Nodes, lethe.Pseudonym{byte(i >> 8), byte(i)})
		s.Labels = append(s.Labels, lethe.Label(d.IntN(lethe.NumLabels)))
		for f := range features {
			v := float32(d.Normal())
			if f < 3 && s.Labels[i] == lethe.Illicit {
				v += 2
			}
			s.Features = append(s.Features, v)
		}
		if i > 0 {
			s.Edges = append(s.Edges, lethe.Edge{A: uint32(d.IntN(i)), B: uint32(i)})
		}
	}
	return s
}

// The portable set's bytes are pinned, since it promises the same ones on every architecture. A change
// of the arithmetic or of the format shows here.
func TestPortableBytesArePinned(t *testing.T) {
	datadriven.RunTest(t, "testdata/pinned", func(t *testing.T, d *datadriven.TestData) string {
		small := with(d.Cmd, func(c *trainer.Config) { c.Classes, c.Hidden, c.Passes = 7, 8, 2 })
		e := newEngine(t, small, kernels.Portable())
		encoded := trainer.EncodeCheckpoint(train(t, e, citationSlice()))
		decoded, err := trainer.DecodeCheckpoint(encoded, networks.More()...)
		require.NoError(t, err)
		require.NoError(t, e.Compatible(decoded))
		_, err = trainer.DecodeCheckpoint(encoded)
		require.ErrorContains(t, err, "is no network: want one of")
		return canonical.DigestOf(encoded).String() + "\n"
	})
}

// Every network tells classes apart whose nodes it has not seen.
func TestEveryNetworkLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every network")
	}
	community := func(timestep lethe.Timestep) *lethe.Slice {
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
	unseen := community(2)
	for _, model := range networks.More().Names() {
		e := newEngine(t, with(model, func(c *trainer.Config) {
			c.Classes, c.Hidden, c.Passes, c.LearningRate = 4, 32, 60, 0.01
		}), kernels.Default())
		p, err := e.Probabilities(t.Context(), train(t, e, community(1)), trainer.InputOfSlice(unseen))
		require.NoError(t, err, model)
		right := 0
		for i, label := range unseen.Labels {
			row := p[i*4 : i*4+4]
			if slices.Index(row, slices.Max(row)) == int(label)-1 {
				right++
			}
		}
		require.Greater(t, right, 90, "%s of 120", model)
	}
}

// In which band of a large graph a row is cannot be seen in its probability, and several networks asked side
// by side about one shared input say what each says about an input of its own.
func TestProbabilitiesOfCopiesAndOfSharedInputs(t *testing.T) {
	const copies = 7
	dense, sparse := denseSlice(150, 12), denseSlice(150, 12)
	for i := range sparse.Features {
		if i%7 > 0 {
			sparse.Features[i] = 0
		}
	}
	for kind, s := range map[string]*lethe.Slice{"dense": dense, "sparse": sparse} {
		one := trainer.Input{Rows: len(s.Nodes), Cols: s.FeatureCount, Features: s.Features, Edges: s.Edges}
		many, shared := trainer.Input{Rows: copies * one.Rows, Cols: one.Cols}, one.Shared()
		for c := range copies {
			many.Features = append(many.Features, one.Features...)
			for _, e := range one.Edges {
				first := uint32(c * one.Rows)
				many.Edges = append(many.Edges, lethe.Edge{A: e.A + first, B: e.B + first})
			}
		}
		var group errgroup.Group
		for _, model := range networks.More().Names() {
			for _, hidden := range []int{16, 256} {
				e := newEngine(t, with(model, func(c *trainer.Config) { c.Hidden, c.Passes = hidden, 2 }), kernels.Default())
				c := train(t, e, s)
				want, err := e.Probabilities(t.Context(), c, one)
				require.NoError(t, err)
				got, err := e.Probabilities(t.Context(), c, many)
				require.NoError(t, err)
				require.Equal(t, slices.Repeat(want, copies), got, "%s %s of %d", kind, model, hidden)
				group.Go(func() error {
					got, err := e.Probabilities(t.Context(), c, shared)
					if err == nil && !slices.Equal(want, got) {
						err = fmt.Errorf("%s of %d: another answer about a shared input", model, hidden)
					}
					return err
				})
			}
		}
		require.NoError(t, group.Wait())
	}
}

// The terms of an attribution add up to the logit, and what is further away than a network looks has no
// part in it.
func TestAttributions(t *testing.T) {
	inTurn := func(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
		for i := range n {
			if err := f(ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
	in := trainer.InputOfSlice(denseSlice(80, 7))
	for _, model := range networks.More().Names() {
		e := newEngine(t, with(model, func(c *trainer.Config) {
			c.Seed, c.Hidden, c.Passes, c.LearningRate = 3, 16, 10, .01
		}), kernels.Default())
		c := train(t, e, denseSlice(60, 7))
		explain := func(g trainer.Input, row int) *trainer.Attribution {
			all, err := e.Explain(t.Context(), inTurn, []*trainer.Checkpoint{c}, []trainer.Spot{{Graph: g, Row: row}})
			require.NoError(t, err, model)
			return all[0]
		}
		whole, sum := explain(in, 40), 0.0
		for _, v := range slices.Concat(whole.Features, whole.Rows, []float64{whole.Base, whole.Shape}) {
			sum += v
		}
		p, err := e.Probabilities(t.Context(), c, in)
		require.NoError(t, err)
		require.InDelta(t, whole.Logit, sum, 1e-3, model)
		require.InDelta(t, ensemble.Illicit(p)[40], 1/(1+math.Exp(-whole.Logit)), 1e-5, model)
		part, rows := in.Around(40, e.Config().Reach(), in.Neighbours())
		at, _ := slices.BinarySearch(rows, uint32(40))
		got := explain(part, at)
		require.InDelta(t, whole.Logit, got.Logit, 1e-5, model)
		require.InDeltaSlice(t, whole.Features, got.Features, 1e-3, model)
		for i, v := range whole.Rows {
			if _, within := slices.BinarySearch(rows, uint32(i)); !within {
				require.InDelta(t, 0, v, 1e-6, "%s row %d", model, i)
			}
		}
	}
}

func TestArchitecturesOutOfBounds(t *testing.T) {
	for problem, c := range map[string]trainer.Config{
		`model is "gnn", want one of`:                  networks.Defaults("gnn"),
		`model is "sage", want one of`:                 trainer.DefaultsOf(networks.SAGE),
		"hidden is 12, want a multiple of the 8 heads": with(networks.GAT, func(c *trainer.Config) { c.Hidden = 12 }),
		"dropout is 0.5, want 0 for model sgc":         with(networks.SGC, func(c *trainer.Config) { c.Dropout = 0.5 }),
		"dropout is 1, want 0 or more, less than 1":    with(networks.MLP, func(c *trainer.Config) { c.Dropout = 1 }),
		"heads is 2, want 0 for model sage":            with(networks.SAGE, func(c *trainer.Config) { c.Heads = 2 }),
		"teleport is 1, want 0 or more, less than 1":   with(networks.APPNP, func(c *trainer.Config) { c.Teleport = 1 }),
		"hops is 5000, want 0 to 1024":                 with(networks.APPNP, func(c *trainer.Config) { c.Hops = 5000 }),
		"plain_gin is true, want false for model gcn":  with(networks.GCN, func(c *trainer.Config) { c.PlainGIN = true }),
	} {
		_, err := trainer.NewEngine(c, kernels.Portable())
		require.ErrorContains(t, err, problem)
	}
	require.True(t, networks.SumsNeighbours(models.EllipticGIN))
}

// A step of each network on a citation shard: hidden 64, Adam as in the paper.
func BenchmarkCitationStep(b *testing.B) {
	s := citationSlice()
	for _, model := range networks.Names() {
		for _, k := range kernelSets(b) {
			b.Run(model+"/"+k.Name, func(b *testing.B) {
				e := newEngine(b, with(model, func(c *trainer.Config) {
					c.Classes, c.LearningRate, c.WeightDecay, c.Passes = 7, 0.01, 5e-4, 50
				}), k)
				for b.Loop() {
					train(b, e, s)
				}
			})
		}
	}
}
