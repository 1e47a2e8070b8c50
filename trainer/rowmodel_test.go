package trainer

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// rowEngine returns an engine of a model that looks at rows.
func rowEngine(t testing.TB, model string) *Engine {
	return newEngine(t, with(model, func(c *Config) { c.Seed, c.Trees.Rounds, c.Trees.MinChildRows = 3, 5, 2 }),
		kernels.Portable())
}

func TestRowModelsTrainLikeNetworks(t *testing.T) {
	for _, model := range RowModels() {
		e := rowEngine(t, model)
		slices := makeWindow(1, 5, 30, 7)
		var previous *Checkpoint
		for i := range slices {
			next, report, err := e.Train(context.Background(), 1, previous, slices[:i+1])
			require.NoError(t, err)
			require.Equal(t, i+1, report.Slices)
			require.Positive(t, report.Steps)
			require.NoError(t, e.Compatible(next))
			var digests []lethe.Digest
			for _, s := range slices[:i+1] {
				digests = append(digests, canonical.DigestOf(canonical.EncodeSlice(s)))
			}
			require.Equal(t, e.config.LineageOf(lethe.Digest{}, digests), next.Lineage)

			// The checkpoint is a function of the window alone, through its bytes.
			fresh, _, err := e.Train(context.Background(), 1, nil, slices[:i+1])
			require.NoError(t, err)
			require.Equal(t, EncodeCheckpoint(next), EncodeCheckpoint(fresh))
			previous, err = DecodeCheckpoint(EncodeCheckpoint(next))
			require.NoError(t, err)
			require.Equal(t, next, previous)
		}
		in := Input{Rows: 40, Cols: 7, Features: randomMatrix(40, 7, 8).Data}
		p, err := e.Probabilities(context.Background(), previous, in)
		require.NoError(t, err)
		require.Len(t, p, 2*40)
		for i := 0; i < len(p); i += 2 {
			require.InDelta(t, 1, p[i]+p[i+1], 1e-6)
		}
	}
}

// A replaced slice is forgotten: the model is that of a stream that never held
// the old one.
func TestRowModelsForget(t *testing.T) {
	for _, model := range RowModels() {
		e := rowEngine(t, model)
		without := makeWindow(1, 3, 30, 7)
		with := makeWindow(1, 3, 30, 7)
		with[1] = makeSlice(sliceSpec{timestep: with[1].Timestep, shard: 1, nodes: 31, features: 7})
		want := chain(t, e, 1, without)
		old := chain(t, e, 1, with)
		require.NotEqual(t, digestOf(want[2]), digestOf(old[2]))
		replayed, _, err := e.Train(context.Background(), 1, old[0], without[:2])
		require.NoError(t, err)
		require.Equal(t, digestOf(want[1]), digestOf(replayed))
	}
}

// What a model does not need of a union changes no bit of it; a slice that is no union stays as it is.
func TestRowModelsNeedLabelledNodesOfUnions(t *testing.T) {
	for _, model := range RowModels() {
		e := rowEngine(t, model)
		var whole, needed []*lethe.Slice
		for _, s := range makeWindow(1, 4, 30, 7) {
			require.Same(t, s, e.config.Needed(s))
			s.Parts = []lethe.Digest{canonical.DigestSlice(s)}
			whole, needed = append(whole, s), append(needed, e.config.Needed(s))
		}
		require.Less(t, len(needed[3].Nodes), len(whole[3].Nodes))
		want, _, err := e.Train(t.Context(), 1, nil, whole)
		require.NoError(t, err)
		got, _, err := e.Train(t.Context(), 1, nil, needed)
		require.NoError(t, err)
		require.Equal(t, EncodeCheckpoint(want), EncodeCheckpoint(got))
	}
}

func TestRowModelWithoutLabels(t *testing.T) {
	for _, model := range RowModels() {
		e := rowEngine(t, model)
		s := makeSlice(sliceSpec{timestep: 1, nodes: 4, features: 3})
		clear(s.Labels)
		c, report, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{s})
		require.NoError(t, err)
		require.Zero(t, report.Steps)
		p, err := e.Probabilities(context.Background(), c, Input{Rows: 2, Cols: 3, Features: make([]float32, 6)})
		require.NoError(t, err)
		require.Equal(t, []float32{0.5, 0.5, 0.5, 0.5}, p)
		next := makeSlice(sliceSpec{timestep: 2, nodes: 12, features: 3})
		_, report, err = e.Train(context.Background(), 0, c, []*lethe.Slice{s, next})
		require.NoError(t, err)
		require.Equal(t, 1, report.Slices)
	}
}

// A shard of trees that draw rows is replayed to the same bytes without a node: rows' draws are those of
// their nodes.
func TestTreesThatDrawRowsForget(t *testing.T) {
	e := newEngine(t, with(Trees, func(c *Config) {
		c.Trees.Rounds, c.Trees.MinChildRows, c.Trees.RowShare = 5, 2, .7
	}), kernels.Portable())
	without, window := makeWindow(1, 3, 30, 7), makeWindow(1, 3, 30, 7)
	window[1] = makeSlice(sliceSpec{timestep: window[1].Timestep, shard: 1, nodes: 31, features: 7})
	want, old := chain(t, e, 1, without), chain(t, e, 1, window)
	require.NotEqual(t, digestOf(want[2]), digestOf(old[2]))
	replayed, _, err := e.Train(t.Context(), 1, old[0], without[:2])
	require.NoError(t, err)
	require.Equal(t, digestOf(want[1]), digestOf(replayed))
}

// Networks and logistic regression take a missing value for 0. Trees do not: they tell
// them apart.
func TestMissingValues(t *testing.T) {
	for _, model := range []string{Trees, Logistic, models.EllipticGIN} {
		e := newEngine(t, with(model, func(c *Config) {
			c.Trees.Rounds, c.Trees.MinChildRows, c.Trees.FeatureShare, c.Hidden = 5, 2, 1, 8
		}), kernels.Portable())
		missing, zero := withoutValues(lethe.Missing()), withoutValues(0)
		ofMissing, ofZero := chain(t, e, 1, missing)[1], chain(t, e, 1, zero)[1]
		ofMissing.Lineage, ofZero.Lineage = lethe.Digest{}, lethe.Digest{}
		require.Equal(t, model == Trees, digestOf(ofMissing) != digestOf(ofZero), model)

		in := Input{Rows: 2, Cols: 7, Features: make([]float32, 14), Edges: []lethe.Edge{{A: 0, B: 1}}}
		want, err := e.Probabilities(t.Context(), ofMissing, in)
		require.NoError(t, err)
		in.Features[0], in.Features[13] = lethe.Missing(), lethe.Missing()
		got, err := e.Probabilities(t.Context(), ofMissing, in)
		require.NoError(t, err)
		require.Equal(t, model != Trees, slices.Equal(want, got), model)
		require.True(t, lethe.IsMissing(in.Features[0]), "the caller's features are not changed")
	}
}

// withoutValues is a window in which the first feature of illicit nodes is the same, and
// that of others on both sides of 0.
func withoutValues(value float32) []*lethe.Slice {
	window := makeWindow(1, 2, 30, 7)
	for _, s := range window {
		for i, label := range s.Labels {
			s.Row(i)[0] = float32(2*(i%2) - 1)
			if label == lethe.Illicit {
				s.Row(i)[0] = value
			}
		}
	}
	return window
}

func TestRowModelsRefuse(t *testing.T) {
	e := rowEngine(t, Trees)
	c := chain(t, e, 1, makeWindow(1, 2, 30, 7))[1]
	for name, in := range map[string]struct {
		in   Input
		want error
	}{
		"features":  {Input{Rows: 1, Cols: 3, Features: make([]float32, 3)}, ErrIncompatible},
		"values":    {Input{Rows: 2, Cols: 7, Features: make([]float32, 3)}, ErrInvalidSlice},
		"no number": {Input{Rows: 1, Cols: 7, Features: append(make([]float32, 6), float32(math.Inf(1)))}, ErrNotFinite},
	} {
		_, err := e.Probabilities(context.Background(), c, in.in)
		require.ErrorIs(t, err, in.want, name)
	}
	require.ErrorIs(t, rowEngine(t, Logistic).Compatible(c), ErrIncompatible)
	other := newEngine(t, with(Trees, func(c *Config) { c.Seed, c.Trees.Rounds, c.Trees.MinChildRows = 3, 6, 2 }),
		kernels.Portable())
	require.ErrorIs(t, other.Compatible(c), ErrIncompatible)
	require.ErrorIs(t, newEngine(t, Defaults(), kernels.Portable()).Compatible(c), ErrIncompatible)
	altered := *c
	altered.Body = append([]byte(nil), c.Body...)
	altered.Body[20]++
	require.ErrorIs(t, e.Compatible(&altered), ErrIncompatible)
	_, err := e.Probabilities(context.Background(), &altered, Input{Rows: 1, Cols: 7, Features: make([]float32, 7)})
	require.ErrorIs(t, err, ErrIncompatible)

	_, err = NewEngine(with(Logistic, func(c *Config) { c.Schedule, c.Trees.MaxLeaves = Continual, 1 }),
		kernels.Portable())
	require.ErrorContains(t, err, `schedule is "continual", want window`)
	require.ErrorContains(t, err, "trees.max_leaves is 1")
}
