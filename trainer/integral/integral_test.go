package integral

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hinge is weight × max(0, at - knee), of one input.
type hinge struct {
	weight, knee float64
	input        int
}

// visit adds hinges of some inputs up.
func visit(inputs int, hinges []hinge) func([]Place) ([]Point, error) {
	return func(places []Place) (out []Point, err error) {
		for _, p := range places {
			place := p.At
			p := Point{Value: -1, Terms: make([]float64, inputs)}
			for _, h := range hinges {
				if place > h.knee {
					p.Value += h.weight * (place - h.knee)
					p.Terms[h.input] += h.weight
				}
			}
			out = append(out, p)
		}
		return out, nil
	}
}

// one integrates along one way.
func one(ctx context.Context, visit func([]Place) ([]Point, error)) (Integral, error) {
	all, err := Along(ctx, 1, visit)
	if err != nil {
		return Integral{}, err
	}
	return all[0], nil
}

// No integral depends on the ways beside it.
func TestSeveralWaysAreIntegratedAsEachAlone(t *testing.T) {
	ways := [][]hinge{{{3, .3, 0}, {.5, .81, 1}, {-7, .35, 0}}, nil, {{9, .07, 1}, {8, .08, 0}, {-5, .09, 1}}}
	got, err := Along(t.Context(), len(ways), func(places []Place) (out []Point, err error) {
		for _, p := range places {
			met, err := visit(2, ways[p.Way])([]Place{p})
			if err != nil {
				return nil, err
			}
			out = append(out, met...)
		}
		return out, nil
	})
	require.NoError(t, err)
	for i, hinges := range ways {
		want, err := one(t.Context(), visit(2, hinges))
		require.NoError(t, err)
		require.Equal(t, want, got[i])
	}
	require.Greater(t, got[2].Points, got[1].Points)
}

// Sums of hinges have an integral that is known.
func TestTermsAreTheIntegrals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const inputs = 4
		var hinges []hinge
		want := make([]float64, inputs)
		for range rapid.IntRange(0, 30).Draw(t, "hinges") {
			h := hinge{
				rapid.Float64Range(-10, 10).Draw(t, "weight"), rapid.Float64Range(0, 1).Draw(t, "knee"),
				rapid.IntRange(0, inputs-2).Draw(t, "input"),
			}
			hinges = append(hinges, h)
			want[h.input] += h.weight * (1 - h.knee)
		}
		got, err := one(t.Context(), visit(inputs, hinges))
		require.NoError(t, err)
		total := 0.0
		for _, v := range got.Terms {
			total += v
		}
		scale := 1.0
		for i := range 1001 {
			p, err := visit(inputs, hinges)([]Place{{At: float64(i) / 1000}})
			require.NoError(t, err)
			scale = max(scale, math.Abs(p[0].Value)/usual)
		}
		require.InDelta(t, got.Last-got.First, total, mayMiss*scale)
		require.InDeltaSlice(t, want, got.Terms, mayTurn*scale)
		require.Zero(t, got.Terms[inputs-1], "an input without influence")
		require.Less(t, got.Points, MostPoints)
	})
}

// A change of slope inside a stretch is found by the values at its ends.
func TestAStretchWithOneChangeIsMetExactly(t *testing.T) {
	got, err := one(t.Context(), visit(2, []hinge{{3, .3, 0}, {.5, .81, 1}}))
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{2.1, .095}, got.Terms, 1e-12)
	require.Equal(t, firstStretches+1, got.Points)
	// Two changes may hide behind equal slopes: then it misses, and is halved.
	s := stretchOf(point{}, point{at: 1, Point: Point{Value: .1}})
	require.InDelta(t, .1, s.missed, 1e-12)
}

func TestErrorsAndRoughFunctionsEnd(t *testing.T) {
	broken := errors.New("broken")
	_, err := one(t.Context(), func([]Place) ([]Point, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	ended, end := context.WithCancel(t.Context())
	end()
	_, err = one(ended, visit(1, nil))
	require.ErrorIs(t, err, context.Canceled)
	got, err := one(t.Context(), func(places []Place) (out []Point, err error) {
		for _, p := range places { // values that no gradient accounts for
			out = append(out, Point{Value: p.At, Terms: []float64{0}})
		}
		return out, nil
	})
	require.NoError(t, err)
	require.Less(t, got.Points, 2*MostPoints)
	// Beyond what single precision can tell, what is missed does not count.
	got, err = one(t.Context(), func(places []Place) (out []Point, err error) {
		for i, p := range places {
			noise := float64(i%2) - .5
			out = append(out, Point{Value: 1e6*p.At + noise, Terms: []float64{1e6}})
		}
		return out, nil
	})
	require.NoError(t, err)
	require.Equal(t, firstStretches+1, got.Points)
}
