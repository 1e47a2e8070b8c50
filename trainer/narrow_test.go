package trainer

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
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
