package trainer

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/trainer/integral"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// explained is a model with a graph that it has not seen. The last of its seven features is
// the same everywhere, row 0 has no edges, and row 1 and 2 miss a feature.
func explained(t *testing.T, c Config) (*Engine, *Checkpoint, Input) {
	t.Helper()
	c.Seed, c.Hidden, c.Passes, c.LearningRate = 3, 16, 10, .01
	c.Trees.Rounds, c.Trees.MinChildRows = 20, 2
	e := newEngine(t, c, kernels.Default())
	window := makeWindow(1, 3, 60, 7)
	for _, s := range window {
		for i := range s.Nodes {
			s.Row(i)[6] = 0
		}
	}
	last := chain(t, e, 1, window)[2]
	s := makeSlice(sliceSpec{timestep: 9, nodes: 80, features: 7})
	in := InputOfSlice(s)
	in.Edges = slices.DeleteFunc(in.Edges, func(e lethe.Edge) bool { return e.A == 0 })
	for i := range in.Rows {
		in.row(i)[6] = 0
	}
	in.row(1)[2], in.row(2)[4] = lethe.Missing(), lethe.Missing()
	return e, last, in
}

func (a *Attribution) sum() float64 {
	sum := a.Base + a.Shape
	for _, v := range slices.Concat(a.Features, a.Rows) {
		sum += v
	}
	return sum
}

// inTurn is an Each.
func inTurn(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	for i := range n {
		if err := f(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) explainOne(t *testing.T, c *Checkpoint, in Input, row int) (*Attribution, error) {
	t.Helper()
	all, err := e.Explain(t.Context(), inTurn, []*Checkpoint{c}, []Spot{{in, row}})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// The terms add up to the logit, which is that of the model's probability.
func TestAttributionsAddUp(t *testing.T) {
	bounds := map[string]float64{Trees: 1e-6, Logistic: 1e-6}
	var configs []Config
	for _, model := range append(models.Served().Names(), RowModels()...) {
		configs = append(configs, DefaultsOf(model))
	}
	for _, config := range configs {
		e, c, in := explained(t, config)
		said := illicit(t, e, c, in)
		moved := 0.0
		for _, row := range []int{0, 1, 2, 40, 79} {
			a, err := e.explainOne(t, c, in, row)
			require.NoError(t, err, config.Model)
			bound := 1e-3
			if b, exact := bounds[config.Model]; exact {
				bound = b
			}
			require.InDelta(t, a.Logit, a.sum(), bound, "%s row %d", config.Model, row)
			require.InDelta(t, said[row], 1/(1+math.Exp(-a.Logit)), 1e-5, config.Model)
			require.Zero(t, a.Features[6], "%s: a feature without influence", config.Model)
			for _, v := range a.Features {
				moved += math.Abs(v)
			}
		}
		require.Positive(t, moved, config.Model)
	}
}

// What is further away than a network looks has no part, and the graph without it gives
// the same.
func TestAttributionsTakeWhatIsInReach(t *testing.T) {
	for _, model := range models.Served().Names() {
		e, c, in := explained(t, DefaultsOf(model))
		whole, err := e.explainOne(t, c, in, 40)
		require.NoError(t, err)
		part, rows := in.Around(40, e.config.Reach(), in.Neighbours())
		at, _ := slices.BinarySearch(rows, uint32(40))
		got, err := e.explainOne(t, c, part, at)
		require.NoError(t, err)
		require.InDelta(t, whole.Logit, got.Logit, 1e-5, model)
		require.InDelta(t, whole.Base+whole.Shape, got.Base+got.Shape, 1e-5, model)
		require.InDeltaSlice(t, whole.Features, got.Features, 1e-3, model)
		for i, v := range whole.Rows {
			if k, within := slices.BinarySearch(rows, uint32(i)); within {
				require.InDelta(t, v, got.Rows[k], 1e-3, model)
			} else {
				require.InDelta(t, 0, v, 1e-6, "%s row %d", model, i)
			}
		}
		alone, err := e.explainOne(t, c, in, 0)
		require.NoError(t, err)
		require.InDelta(t, 0, alone.Shape, 1e-5, model)
		require.Zero(t, slices.Max(alone.Rows), model)
	}
}

// Integrated gradients against their definition, by a sum over 4,000 points.
func TestIntegratedGradientsAreTheIntegral(t *testing.T) {
	for _, model := range []string{models.EllipticGIN} {
		e, c, in := explained(t, DefaultsOf(model))
		part, rows := in.Around(40, e.config.Reach(), in.Neighbours())
		at, _ := slices.BinarySearch(rows, uint32(40))
		got, err := e.explainOne(t, c, part, at)
		require.NoError(t, err)
		const points = 4000
		places := make([]integral.Place, points)
		for i := range places {
			places[i].At = (float64(i) + .5) / points
		}
		visited, err := newPaths(e, inTurn, []*Checkpoint{c}, []Spot{{part, at}}).visit(t.Context(), places)
		require.NoError(t, err)
		for f := range part.Cols {
			want := 0.0
			for _, p := range visited {
				want += p.Terms[f] / points
			}
			require.InDelta(t, want, got.Features[f], .1, "%s feature %d", model, f)
		}
	}
}

// The attribution of several models is the mean of theirs, and no row's depends on the
// others', nor on what is computed side by side.
func TestAttributionsOfSeveralModelsAreTheirMean(t *testing.T) {
	for _, model := range []string{models.EllipticGIN, Trees} {
		e, c, in := explained(t, DefaultsOf(model))
		other := chain(t, e, 1, makeWindow(1, 2, 60, 7))[1]
		one, err := e.explainOne(t, c, in, 40)
		require.NoError(t, err)
		two, err := e.explainOne(t, other, in, 40)
		require.NoError(t, err)
		both := []*Checkpoint{c, other}
		got, err := e.Explain(t.Context(), sideBySide, both, []Spot{{in, 2}, {in, 40}, {in, 79}})
		require.NoError(t, err)
		require.InDelta(t, (one.Logit+two.Logit)/2, got[1].Logit, 1e-6, model)
		require.InDelta(t, (one.Base+two.Base)/2, got[1].Base, 1e-6, model)
		require.InDelta(t, got[1].Logit, got[1].sum(), 1e-3, model)
		for f, v := range got[1].Features {
			require.InDelta(t, (one.Features[f]+two.Features[f])/2, v, .1, model)
		}
		alone, err := e.Explain(t.Context(), inTurn, both, []Spot{{in, 40}})
		require.NoError(t, err)
		require.Equal(t, alone[0], got[1], model)
	}
}

// sideBySide is an Each.
func sideBySide(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for i := range n {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

func TestExplainRefuses(t *testing.T) {
	e, c, in := explained(t, Defaults())
	_, err := e.explainOne(t, c, Input{Rows: 1, Cols: 2, Features: []float32{1, 2}}, 0)
	require.ErrorIs(t, err, ErrIncompatible)
	in.Features[6] = float32(math.Inf(1))
	_, err = e.explainOne(t, c, in, 0)
	require.ErrorIs(t, err, ErrNotFinite)
	blend := newEngine(t, DefaultsOf(Blend), kernels.Default())
	_, err = blend.explainOne(t, c, in, 0)
	require.ErrorIs(t, err, ErrUnexplained)
}
