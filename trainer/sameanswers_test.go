package trainer

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/trainer/integral"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// rareWords gives the words of a community slice places among many more, most of
// which never occur; which ones do differs between timesteps.
func rareWords(timestep lethe.Timestep, features int) *lethe.Slice {
	s := communitySlice(timestep)
	words, wide := s.FeatureCount, make([]float32, len(s.Nodes)*features)
	for i := range s.Nodes {
		for w, v := range s.Row(i) {
			wide[i*features+w*(features/words)+int(timestep)%(features/words)] = v
		}
	}
	s.Features, s.FeatureCount = wide, features
	return s
}

// A fit that leaves out the features that do not occur gives every bit of one that
// keeps them, from fresh weights as from a checkpoint in which moments of other
// features still fade.
func TestAbsentFeaturesChangeNoBit(t *testing.T) {
	const features = 720
	for _, model := range models.Served().Names() {
		e := newEngine(t, with(model, func(c *Config) { c.Classes, c.Hidden, c.Passes, c.WeightDecay = 4, 16, 3, 0.01 }),
			kernels.Default())
		first, _, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{rareWords(1, features)})
		require.NoError(t, err)
		for name, previous := range map[string]*Checkpoint{"fresh": nil, "continued": first} {
			window := []*lethe.Slice{rareWords(2, features)}
			got, _, err := e.Train(context.Background(), 0, previous, window)
			require.NoError(t, err)

			want := e.start(0, previous, features)
			trainWide(t, e, want, window[0])
			for part, pair := range map[string][2][]float32{
				"weights": {want.Params, got.Params}, "buffers": {want.Buffers, got.Buffers},
				"first moments": {want.FirstMoment, got.FirstMoment}, "second moments": {want.SecondMoment, got.SecondMoment},
			} {
				require.Len(t, pair[1], len(pair[0]))
				for i := range pair[0] {
					require.Equal(t, math.Float32bits(pair[0][i]), math.Float32bits(pair[1][i]), "%s %s: %s %d", model, name, part, i)
				}
			}
		}
	}
}

// trainWide trains a checkpoint on a slice with a program for all features.
func trainWide(t *testing.T, e *Engine, c *Checkpoint, s *lethe.Slice) {
	c.Timestep = s.Timestep
	batches, rows, form := e.prepareWindow([]*lethe.Slice{s}, c.Architecture)
	p, err := compile(models.Served(), programShape{
		architecture: c.Architecture, settings: e.config.Settings, form: form, capacity: capacityFor(rows), training: true,
	}, e.kernels)
	require.NoError(t, err)
	copy(p.Params.Values, c.Params)
	copy(p.Buffers.Values, c.Buffers)
	p.Load(batches[0])
	f := &fitting{program: p, next: c, first: c.FirstMoment, second: c.SecondMoment}
	for pass := range e.config.Passes {
		p.Work.Key = e.stepKey(c, s.Timestep, pass)
		require.NoError(t, e.step(f))
	}
	require.NoError(t, f.finish(e.kernels.Optimiser))
}

// The narrow program is used where it saves something, and only there.
func TestNarrowOnlyWhatIsAbsent(t *testing.T) {
	for _, c := range []struct {
		model          string
		features, want int
	}{
		{models.EllipticGIN, 720, 128}, // 80 words
		{models.EllipticGIN, 160, 128}, // saves 32
		{models.EllipticGIN, 80, 80},   // all occur
	} {
		e := newEngine(t, with(c.model, func(c *Config) { c.Classes, c.Hidden = 4, 16 }), kernels.Default())
		next := e.fresh(0, c.features)
		batches, rows, form := e.prepareWindow([]*lethe.Slice{rareWords(1, c.features)}, next.Architecture)
		f, err := e.newFitting(next, batches, rows, form)
		require.NoError(t, err)
		require.Equal(t, c.want, f.Architecture.Features, "%s of %d features", c.model, c.features)
	}
}

// A weight of an absent feature that leaves the numbers is an error like any other.
func TestAbsentFeaturesStayFinite(t *testing.T) {
	e := newEngine(t, withPerceptron(func(c *Config) { c.Classes, c.Hidden, c.Passes = 4, 16, 2 }), kernels.Default())
	first, _, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{rareWords(1, 720)})
	require.NoError(t, err)
	layout, _ := e.idle.networks.Tensors(first.Architecture)
	i, ok := layout.Index("lin1.weight")
	require.True(t, ok, "tensors %v", layout.Specs)
	first.Params[layout.Specs[i].From+16*719] = float32(math.Inf(1))
	_, _, err = e.Train(context.Background(), 0, first, []*lethe.Slice{rareWords(2, 720)})
	require.ErrorIs(t, err, ErrNotFinite)
	require.ErrorContains(t, err, "does not occur")
}

// times returns so many copies of a graph side by side.
func (in Input) times(copies int) Input {
	out := Input{Rows: copies * in.Rows, Cols: in.Cols}
	for c := range copies {
		out.Features = append(out.Features, in.Features...)
		for _, e := range in.Edges {
			first := uint32(c * in.Rows)
			out.Edges = append(out.Edges, lethe.Edge{A: e.A + first, B: e.B + first})
		}
	}
	return out
}

// Of a large graph operators that work row by row take one band of rows after the other. In which band a row is
// cannot be seen in its probability.
func TestCopiesOfAGraphHaveItsProbabilities(t *testing.T) {
	const copies = 7
	slice := makeSlice(sliceSpec{timestep: 1, nodes: 150, features: 12, stubs: 3})
	sparse := makeSlice(sliceSpec{timestep: 1, nodes: 150, features: 12, stubs: 3})
	for i := range sparse.Features {
		if i%7 > 0 {
			sparse.Features[i] = 0
		}
	}
	for _, model := range models.Served().Names() {
		for _, hidden := range []int{16, 256} {
			e := newEngine(t, with(model, func(c *Config) { c.Hidden, c.Passes, c.WindowTimesteps = hidden, 2, 1 }),
				kernels.Default())
			for kind, s := range map[string]*lethe.Slice{"dense": slice, "sparse": sparse} {
				t.Run(fmt.Sprintf("%s/%d/%s", model, hidden, kind), func(t *testing.T) {
					c, _, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{s})
					require.NoError(t, err)
					one := InputOfSlice(s)
					want := illicit(t, e, c, one)
					got := illicit(t, e, c, one.times(copies))
					for i, p := range got {
						require.Equal(t, want[i%one.Rows], p, "copy %d of row %d", i/one.Rows, i%one.Rows)
					}
				})
			}
		}
	}
}

// Models asked side by side about one shared input, of several kinds, say what
// each says about an input of its own.
func TestASharedInputChangesNoAnswer(t *testing.T) {
	const features = 6
	s := makeSlice(sliceSpec{timestep: 1, nodes: 60, features: features})
	alone := Input{Rows: 60, Cols: features, Features: s.Features, Edges: s.Edges}
	type asked struct {
		engine     *Engine
		checkpoint *Checkpoint
		want       []float32
	}
	var all []asked
	for _, config := range []Config{
		DefaultsOf(models.EllipticGIN), DefaultsOf("perceptron", perceptron()),
	} {
		config.Passes = 2
		e := newEngine(t, config, kernels.Default())
		c, _, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{s})
		require.NoError(t, err)
		want, err := e.Probabilities(context.Background(), c, alone)
		require.NoError(t, err)
		all = append(all, asked{e, c, want})
	}
	shared := alone.Shared()
	for range 2 {
		got := make([][]float32, len(all))
		var g errgroup.Group
		for i, a := range all {
			g.Go(func() (err error) {
				got[i], err = a.engine.Probabilities(context.Background(), a.checkpoint, shared)
				return err
			})
		}
		require.NoError(t, g.Wait())
		for i, a := range all {
			require.Equal(t, a.want, got[i], "%s, %d hops", a.checkpoint.Architecture.Model, a.checkpoint.Architecture.Hops)
		}
	}
	require.Len(t, shared.shared.kept, len(all))
}

// With many features a network is asked by what its first layers make of them, and says
// the same.
func TestProjectedNetworksSayTheSame(t *testing.T) {
	const features = 60
	for _, model := range models.Served().Names() {
		e := newEngine(t, with(model, func(c *Config) { c.Hidden = 8 }), kernels.Default())
		c := chain(t, e, 1, makeWindow(1, 2, 40, features))[1]
		in := InputOfSlice(makeSlice(sliceSpec{timestep: 9, nodes: 30, features: features}))
		p := project(c.Network, models.Served())
		require.Less(t, p.columns(), features, model)
		places := []integral.Place{{At: 0}, {At: .3}, {At: 1}}
		paths := newPaths(e, inTurn, []*Checkpoint{c}, []Spot{{in, 4}})
		got, err := paths.visit(t.Context(), places)
		require.NoError(t, err)
		paths.networks[0], paths.features[0][0] = projection{network: c.Network}, in.Features
		want, err := paths.visit(t.Context(), places)
		require.NoError(t, err)
		for i := range want {
			require.InDelta(t, want[i].Value, got[i].Value, 1e-4, model)
			require.InDeltaSlice(t, want[i].Terms, got[i].Terms, 1e-4, model)
		}
	}
}
