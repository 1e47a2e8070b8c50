package stack

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/golden"
	"lethe/internal/portable"
	"lethe/scoring/graphtest"
)

// drawRows draws logits of which some know the classes, some say the opposite, and
// many tie, with either zero.
func drawRows(t *rapid.T) Rows {
	r := Rows{Components: rapid.IntRange(1, 4).Draw(t, "components")}
	skill := rapid.SliceOfN(rapid.Float64Range(-2, 4), r.Components, r.Components).Draw(t, "skill")
	for range rapid.IntRange(0, 40).Draw(t, "rows") {
		illicit := rapid.Bool().Draw(t, "illicit")
		for k := range r.Components {
			z := float64(rapid.IntRange(-8, 8).Draw(t, "logit")) / 2
			if z == 0 && rapid.Bool().Draw(t, "negative zero") {
				z = math.Copysign(0, -1)
			} else if illicit {
				z += skill[k]
			}
			r.Logits = append(r.Logits, z)
		}
		r.Illicit = append(r.Illicit, illicit)
	}
	return r
}

// logLoss is the summed log-loss of logits.
func logLoss(r Rows, logit func(row []float64) float64) float64 {
	sum := 0.0
	for i, illicit := range r.Illicit {
		z := logit(r.Logits[i*r.Components : (i+1)*r.Components])
		if illicit {
			z = -z
		}
		sum += portable.LogOnePlusExp(z)
	}
	return sum
}

func permuted(r Rows, seed uint64) Rows {
	out := Rows{Components: r.Components}
	for _, i := range graphtest.Permutation(len(r.Illicit), seed) {
		out.Logits = append(out.Logits, r.Logits[i*r.Components:(i+1)*r.Components]...)
		out.Illicit = append(out.Illicit, r.Illicit[i])
	}
	return out
}

func TestFitIsAFunctionOfTheSetOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRows(t)
		c, err := Fit(r, Defaults())
		require.NoError(t, err)
		other, err := Fit(permuted(r, rapid.Uint64().Draw(t, "order")), Defaults())
		require.NoError(t, err)
		require.Equal(t, c.Encode(), other.Encode())
	})
}

// What the package comment promises of every fit.
func TestNeverMuchWorseThanItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRows(t)
		config := Defaults()
		config.L2 = rapid.SampledFrom([]float64{0.1, 2, 20}).Draw(t, "l2")
		c, err := Fit(r, config)
		require.NoError(t, err)
		for _, w := range c.Coefficients() {
			require.GreaterOrEqual(t, w, 0.0)
		}
		loss := logLoss(r, c.Logit)
		mean := mean(r.Components)
		require.LessOrEqual(t, loss, logLoss(r, mean.Logit)+1e-9, "worse than the mean logit")
		for k := range r.Components {
			if !slices.Contains(r.Illicit, true) || !slices.Contains(r.Illicit, false) {
				break
			}
			alone := logLoss(r, func(row []float64) float64 { return row[k] })
			require.LessOrEqual(t, loss, alone+config.L2/2+1e-9, "worse than component %d", k)
		}
	})
}

func TestGoldenStacks(t *testing.T) {
	type file struct {
		Cases []struct {
			Name, Kind  string
			L2          float64
			InterceptL2 float64 `json:"intercept_l2"`
			Y           []int
			Logits      golden.Tensor
			Expect      struct {
				Coefficients []float64
				Intercept    float64
			}
		}
	}
	golden.Each(t, "stack.json", func(t *testing.T, f file) {
		for _, c := range f.Cases {
			if c.Kind != "stack" {
				continue
			}
			r := Rows{Components: c.Logits.Shape[1], Logits: c.Logits.Data}
			for _, y := range c.Y {
				r.Illicit = append(r.Illicit, y == 1)
			}
			got, err := Fit(r, Config{L2: c.L2, InterceptL2: c.InterceptL2})
			require.NoError(t, err)
			require.InDeltaSlice(t, c.Expect.Coefficients, got.Coefficients(), 2e-5, c.Name)
			require.InDelta(t, c.Expect.Intercept, got.Intercept(), 2e-5, c.Name)
		}
	})
}

// Without anything to learn from, and nearly so with little of it, the combination
// is the mean.
func TestLittleToLearnFromIsTheMean(t *testing.T) {
	for _, r := range []Rows{{Components: 2}, {Components: 2, Logits: []float64{1, 2}, Illicit: []bool{true}}} {
		c, err := Fit(r, Defaults())
		require.NoError(t, err)
		require.Equal(t, []float64{0.5, 0.5}, c.Coefficients())
		require.Zero(t, c.Intercept())
		require.InDelta(t, 3.0, c.Logit([]float64{2, 4}), 1e-12)
	}
	alone, err := Fit(Rows{Components: 1, Logits: []float64{-1, 1}, Illicit: []bool{true, false}}, Defaults())
	require.NoError(t, err)
	require.Equal(t, []float64{1}, alone.Coefficients())
	few, err := Fit(Rows{Components: 2, Logits: []float64{1, -3, -2, 0}, Illicit: []bool{true, false}}, Defaults())
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.5, 0.5}, few.Coefficients(), 0.1)
	require.InDelta(t, 0, few.Intercept(), 0.5)
}

// However sure of itself a component is, it counts as one that says 1e-7 or 1 - 1e-7,
// in the fit and after it.
func TestLogitsAreBounded(t *testing.T) {
	illicit := []bool{true, false, true, false, false}
	sure := Rows{Components: 2, Illicit: illicit, Logits: []float64{
		math.Inf(1), 1, -1e300, 0, 40, 2, -2, -1e9, 17, math.Copysign(0, -1),
	}}
	within := Rows{Components: 2, Illicit: illicit, Logits: []float64{
		furthest, 1, -furthest, 0, furthest, 2, -2, -furthest, furthest, 0,
	}}
	c, err := Fit(sure, Defaults())
	require.NoError(t, err)
	other, err := Fit(within, Defaults())
	require.NoError(t, err)
	require.Equal(t, c.Encode(), other.Encode())
	require.Equal(t, c.Logit(sure.Logits[:2]), c.Logit(within.Logits[:2]))
}

func TestLogits(t *testing.T) {
	require.Zero(t, Logit(0.5))
	require.InDelta(t, math.Log(3), Logit(0.75), 1e-14)
	require.InDelta(t, math.Log(1e-7/(1-1e-7)), Logit(0), 1e-12)
	require.InDelta(t, -Logit(0), Logit(1), 1e-8)
	require.Equal(t, furthest, bounded(math.Inf(1)))
	require.InDelta(t, math.Log(3)/2, MeanLogit([]float64{0.75, 0.5}), 1e-14)
	require.Zero(t, MeanLogit(nil))
	c := mean(2)
	require.InDelta(t, furthest/2, c.Logit([]float64{1e300, 0}), 1e-12)
	require.Panics(t, func() { c.Logit([]float64{1}) })
}

func TestRefusals(t *testing.T) {
	two := []bool{true, false}
	broken := []float64{1, math.NaN()}
	for want, r := range map[string]Rows{
		"0 components, want 1 to 64":                            {},
		"65 components, want 1 to 64":                           {Components: 65},
		"3 logits, want 4 for 2 rows of 2 components":           {Components: 2, Logits: make([]float64, 3), Illicit: two},
		"row 1 has a logit of component 0 that is not a number": {Components: 1, Logits: broken, Illicit: two},
	} {
		_, err := Fit(r, Defaults())
		require.EqualError(t, err, "stack: "+want)
	}
	_, err := Fit(Rows{Components: 1}, Config{InterceptL2: -1})
	require.ErrorContains(t, err, "l2 is 0, want more than 0, at most 1e+09")
	require.ErrorContains(t, err, "intercept_l2 is -1, want 0 to 1e+09")
}

func TestMeanLogitsAreThoseOfAllModels(t *testing.T) {
	require.Equal(t, []float64{MeanLogit([]float64{.1, .3}), MeanLogit([]float64{.2, .9})},
		MeanLogits([][]float64{{.1, .2}, {.3, .9}}))
}
