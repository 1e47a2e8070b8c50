package calibrate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/golden"
	"lethe/internal/portable"
	"lethe/scoring/graphtest"
)

type labelled struct {
	logits  []float64
	illicit []bool
}

// drawLabelled draws logits that often tie, with either zero.
func drawLabelled(t *rapid.T, most int) labelled {
	var l labelled
	for range rapid.IntRange(0, most).Draw(t, "rows") {
		z := float64(rapid.IntRange(-6, 6).Draw(t, "logit")) / 2
		if z == 0 && rapid.Bool().Draw(t, "negative zero") {
			z = math.Copysign(0, -1)
		}
		l.logits = append(l.logits, z)
		l.illicit = append(l.illicit, rapid.Bool().Draw(t, "illicit"))
	}
	return l
}

func drawConfig(t *rapid.T) Config {
	return Config{Method: rapid.SampledFrom(Methods()).Draw(t, "method"), MinPerClass: 1}
}

func drawFit(t *rapid.T) *Calibration {
	l := drawLabelled(t, 30)
	c, err := Fit(l.logits, l.illicit, drawConfig(t))
	require.NoError(t, err)
	return c
}

func TestFitIsAFunctionOfTheSetOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, config := drawLabelled(t, 30), drawConfig(t)
		c, err := Fit(l.logits, l.illicit, config)
		require.NoError(t, err)
		var other labelled
		for _, i := range graphtest.Permutation(len(l.logits), rapid.Uint64().Draw(t, "order")) {
			other.logits, other.illicit = append(other.logits, l.logits[i]), append(other.illicit, l.illicit[i])
		}
		again, err := Fit(other.logits, other.illicit, config)
		require.NoError(t, err)
		require.Equal(t, c.Encode(), again.Encode())
	})
}

func TestEitherZeroIsTheSameLogit(t *testing.T) {
	negative := math.Copysign(0, -1)
	illicit := []bool{false, false, true, true}
	for _, method := range Methods() {
		config := Config{Method: method, MinPerClass: 1}
		c, err := Fit([]float64{0, negative, 1, 2}, illicit, config)
		require.NoError(t, err)
		other, err := Fit([]float64{negative, negative, 1, 2}, illicit, config)
		require.NoError(t, err)
		require.Equal(t, c.Encode(), other.Encode(), method)
	}
}

func TestOrderOfLogitsIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawFit(t)
		before := -1.0
		for z := -12.0; z <= 12; z += 0.25 {
			p := c.Apply(z)
			require.GreaterOrEqual(t, p, before, "at %v by %s", z, c.Method())
			require.True(t, p > 0 && p <= 1, "%v at %v by %s", p, z, c.Method())
			// Steep curves come so close to 1 that the next float64 is 1 itself.
			if p < 1-1e-9 {
				require.Greater(t, p, before, "at %v by %s", z, c.Method())
			}
			before = p
		}
	})
}

// leastSquares returns the values that never fall and have the least squared error
// on the levels, each with its rows: the best of all ways to part the levels
// into runs of one value, tried one by one.
func leastSquares(illicit, rows []float64) []float64 {
	n := len(rows)
	best, bestError := []float64(nil), math.Inf(1)
	for parts := range 1 << max(n-1, 0) {
		values, squared, last := make([]float64, n), 0.0, -1.0
		for from := 0; from < n; {
			to := from + 1
			for to < n && parts>>(to-1)&1 == 0 {
				to++
			}
			sum, count := 0.0, 0.0
			for i := from; i < to; i++ {
				sum, count = sum+illicit[i], count+rows[i]
			}
			value := sum / count
			if value < last {
				squared = math.Inf(1)
			}
			for i := from; i < to; i++ {
				values[i] = value
				squared += illicit[i]*(1-value)*(1-value) + (rows[i]-illicit[i])*value*value
			}
			from, last = to, value
		}
		if squared < bestError-1e-12 {
			best, bestError = values, squared
		}
	}
	return best
}

// curve takes the uncalibrated share out of a probability of isotonic.
func curve(c *Calibration, z float64) float64 {
	return (c.Apply(z) - uncalibrated*portable.Logistic(z)) / (1 - uncalibrated)
}

func TestIsotonicIsTheLeastSquaresFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLabelled(t, 16)
		c, err := Fit(l.logits, l.illicit, Config{Method: Isotonic, MinPerClass: 1})
		require.NoError(t, err)
		if c.Method() == None {
			return
		}
		var levels, illicit, rows []float64
		for z := -3.0; z <= 3; z += 0.5 {
			ones, all := 0.0, 0.0
			for i, logit := range l.logits {
				if logit == z {
					all++
					ones += float64(count(l.illicit[i]))
				}
			}
			if all > 0 {
				levels, illicit, rows = append(levels, z), append(illicit, ones), append(rows, all)
			}
		}
		for i, want := range leastSquares(illicit, rows) {
			require.InDelta(t, want, curve(c, levels[i]), 1e-9, "at %v", levels[i])
		}
	})
}

func TestGoldenCalibration(t *testing.T) {
	type file struct {
		Cases []struct {
			Name       string
			Logits, At []float64
			Y          []int
			Expect     struct{ Platt, Isotonic []float64 }
		}
	}
	golden.Each(t, "calibration.json", func(t *testing.T, f file) {
		require.NotEmpty(t, f.Cases)
		for _, c := range f.Cases {
			illicit := make([]bool, len(c.Y))
			for i, y := range c.Y {
				illicit[i] = y == 1
			}
			platt, err := Fit(c.Logits, illicit, Config{Method: Platt, MinPerClass: 1})
			require.NoError(t, err)
			isotonic, err := Fit(c.Logits, illicit, Config{Method: Isotonic, MinPerClass: 1})
			require.NoError(t, err)
			for i, z := range c.At {
				require.InDelta(t, c.Expect.Isotonic[i], curve(isotonic, z), 1e-9, "%s at %v", c.Name, z)
				if c.Expect.Platt != nil {
					require.InDelta(t, c.Expect.Platt[i], platt.Apply(z), 1e-4, "%s at %v", c.Name, z)
				}
			}
			require.Equal(t, c.Expect.Platt == nil, platt.slope == flattestSlope, "logits that say the opposite")
		}
	})
}

func TestFewRowsLeaveLogitsAsTheyAre(t *testing.T) {
	for _, method := range Methods() {
		c, err := Fit([]float64{1, 2, 3}, []bool{true, false, true}, Config{Method: method, MinPerClass: 2})
		require.NoError(t, err)
		require.Equal(t, None, c.Method())
		require.InDelta(t, 1/(1+math.Exp(-2)), c.Apply(2), 1e-14)
	}
}

func TestRefusals(t *testing.T) {
	_, err := Fit([]float64{1}, nil, Defaults())
	require.EqualError(t, err, "calibration: 1 logits and 0 classes")
	for _, z := range []float64{math.NaN(), math.Inf(1), -1e7} {
		_, err = Fit([]float64{z}, []bool{true}, Defaults())
		require.ErrorContains(t, err, "want a number from -1e+06 to 1e+06")
	}
	_, err = Fit(nil, nil, Config{Method: "beta"})
	require.ErrorContains(t, err, `method is "beta", want one of platt, isotonic, none`)
	require.ErrorContains(t, err, "min_per_class is 0, want 1 to")
}
