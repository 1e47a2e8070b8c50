package logistic

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/tabular"
)

// with returns the defaults with changes.
func with(change func(c *Config)) Config {
	c := Defaults()
	change(&c)
	return c
}

func drawRows(t *rapid.T, classes int) tabular.Rows {
	r := tabular.Rows{Cols: rapid.IntRange(1, 4).Draw(t, "cols")}
	for range rapid.IntRange(1, 30).Draw(t, "rows") {
		for range r.Cols {
			r.Features = append(r.Features, rapid.Float32Range(-100, 100).Draw(t, "feature"))
		}
		r.Labels = append(r.Labels, int32(rapid.IntRange(0, classes-1).Draw(t, "label")))
		r.Weights = append(r.Weights, float32(rapid.IntRange(1, 8).Draw(t, "weight"))/4)
	}
	return r
}

// By hand: one standardised feature, x = ±1, one row of each class. The minimum
// of 2 ln(1+e^-w) + w²/2 is where w = 2/(1+e^w), 0.9266...
func TestByHand(t *testing.T) {
	m, report, err := Fit(t.Context(), tabular.Rows{Cols: 1, Features: []float32{10, 30}, Labels: []int32{0, 1}},
		Defaults())
	require.NoError(t, err)
	require.True(t, report.Converged)
	w := 0.0
	for range 200 {
		w = w/2 + 1/(1+math.Exp(w))
	}
	require.InDelta(t, w/10, m.weights[0], 1e-6)
	require.InDelta(t, -2*w, m.weights[1], 1e-5)
	p, err := m.Probabilities([]float32{20, 30})
	require.NoError(t, err)
	require.InDelta(t, 0.5, p[1], 1e-6)
	require.InDelta(t, 1/(1+math.Exp(-w)), p[3], 1e-6)
	require.InDelta(t, 1, p[2]+p[3], 1e-6)
}

func TestGradientAgreesWithDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(2, 4).Draw(t, "classes")
		r := drawRows(t, classes)
		p := newProblem(r, with(func(c *Config) { c.Classes, c.L2 = classes, 0.7 }))
		x := make([]float64, p.model.outputs()*(r.Cols+1))
		for i := range x {
			x[i] = rapid.Float64Range(-1, 1).Draw(t, "weight")
		}
		gradient := make([]float64, len(x))
		p.gradient(gradient, x)
		const h = 1e-5
		for i := range x {
			at := x[i]
			x[i] = at + h
			above := p.loss(x)
			x[i] = at - h
			below := p.loss(x)
			x[i] = at
			require.InDelta(t, (above-below)/(2*h), gradient[i], 1e-5)
		}
	})
}

// At the minimum the gradient vanishes, and scaling a feature, which
// standardisation undoes, changes no probability.
func TestMinimumAndScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(2, 3).Draw(t, "classes")
		r := drawRows(t, classes)
		m, report, err := Fit(t.Context(), r, with(func(c *Config) { c.Classes = classes }))
		require.NoError(t, err)
		require.LessOrEqual(t, report.Loss, math.Log(float64(classes))+1e-9, "no better than knowing nothing")
		scaled := r
		scaled.Features = make([]float32, len(r.Features))
		for i, v := range r.Features {
			scaled.Features[i] = -8 * v
		}
		n, _, err := Fit(t.Context(), scaled, with(func(c *Config) { c.Classes = classes }))
		require.NoError(t, err)
		want, err := m.Probabilities(r.Features)
		require.NoError(t, err)
		got, err := n.Probabilities(scaled.Features)
		require.NoError(t, err)
		for i := range want {
			require.InDelta(t, want[i], got[i], 1e-3)
		}
	})
}

func TestSameRowsSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRows(t, 3)
		m, _, err := Fit(t.Context(), r, with(func(c *Config) { c.Classes = 3 }))
		require.NoError(t, err)
		n, _, err := Fit(t.Context(), r, with(func(c *Config) { c.Classes = 3 }))
		require.NoError(t, err)
		require.Equal(t, m.Encode(), n.Encode())
	})
}

func TestCodecRefusesWhatWasNotWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, _, err := Fit(t.Context(), drawRows(t, 2), Defaults())
		require.NoError(t, err)
		data := m.Encode()
		back, err := Decode(data)
		require.NoError(t, err)
		require.Equal(t, m, back)
		_, err = Decode(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")])
		require.ErrorIs(t, err, canonical.ErrCorrupt)
		altered := append([]byte(nil), data...)
		altered[rapid.IntRange(0, len(data)-1).Draw(t, "at")] ^= 1
		_, err = Decode(altered)
		require.ErrorIs(t, err, canonical.ErrCorrupt)
		forged := &Model{classes: 2, features: m.features + 1, weights: m.weights}
		_, err = Decode(forged.Encode())
		require.ErrorIs(t, err, canonical.ErrCorrupt)
	})
}

func TestRefusals(t *testing.T) {
	_, _, err := Fit(t.Context(), tabular.Rows{Cols: 1}, Defaults())
	require.ErrorIs(t, err, tabular.ErrNoRows)
	_, _, err = Fit(t.Context(), tabular.Rows{Cols: 1, Features: []float32{1}, Labels: []int32{2}}, Defaults())
	require.ErrorIs(t, err, tabular.ErrInvalidRows)
	_, _, err = Fit(t.Context(), tabular.Rows{},
		with(func(c *Config) { c.Classes, c.L2, c.Iterations, c.Tolerance = 1, -1, -1, 2 }))
	for _, want := range []string{"classes is 1", "l2 is -1", "iterations is -1", "tolerance is 2"} {
		require.ErrorContains(t, err, want)
	}
}

// The terms are weight times value, and what is missing or 0 has none.
func TestTermsAddUpToTheScore(t *testing.T) {
	for _, classes := range []int{2, 3} {
		m := &Model{classes: classes, features: 3}
		for i := range 4 * m.outputs() {
			m.weights = append(m.weights, float64(i%5)-1.5)
		}
		e, err := m.Explain([]float32{2, lethe.Missing(), -1.5})
		require.NoError(t, err)
		for c, score := range e.Scores {
			w := m.weights[4*c : 4*c+4]
			require.InDelta(t, w[3]+2*w[0]-1.5*w[2], score, 1e-12)
			require.Equal(t, w[3], e.Expected[c])
			require.InDeltaSlice(t, []float64{2 * w[0], 0, -1.5 * w[2]}, e.Terms[3*c:3*c+3], 1e-12)
		}
	}
	_, err := (&Model{classes: 2, features: 3}).Explain([]float32{1})
	require.ErrorIs(t, err, tabular.ErrInvalidRows)
}
