package calibrate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/canonical"
)

func TestCodecRefusesWhatWasNotWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawFit(t)
		data := c.Encode()
		back, err := Decode(data)
		require.NoError(t, err)
		require.Equal(t, c, back)
		_, err = Decode(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")])
		require.ErrorIs(t, err, canonical.ErrCorrupt)
		altered := append([]byte(nil), data...)
		altered[rapid.IntRange(0, len(data)-1).Draw(t, "at")] ^= 1
		_, err = Decode(altered)
		require.ErrorIs(t, err, canonical.ErrCorrupt)
	})
	isotonic := func(knots ...knot) *Calibration { return &Calibration{method: Isotonic, slope: 1, knots: knots} }
	for name, forged := range map[string]*Calibration{
		"none with a slope":        {method: None, slope: 2},
		"isotonic with intercept":  {method: Isotonic, slope: 1, intercept: 1, knots: []knot{{0, 1}}},
		"negative zero":            {method: None, slope: 1, intercept: math.Copysign(0, -1)},
		"no slope":                 {method: Platt},
		"an infinite slope":        {method: Platt, slope: math.Inf(1)},
		"intercept not a number":   {method: Platt, slope: 1, intercept: math.NaN()},
		"no knots":                 isotonic(),
		"platt with knots":         {method: Platt, slope: 1, knots: []knot{{0, 1}}},
		"a probability beyond 1":   isotonic(knot{0, 1.5}),
		"a logit not a number":     isotonic(knot{math.NaN(), 1}),
		"knots at one logit":       isotonic(knot{0, 0}, knot{0, 1}),
		"probabilities that fall":  isotonic(knot{0, 0.5}, knot{1, 0.4}),
		"a probability not number": isotonic(knot{0, math.NaN()}),
	} {
		_, err := Decode(forged.Encode())
		require.ErrorIs(t, err, canonical.ErrCorrupt, name)
	}
	w := canonical.NewWriter(calibrationMagic, calibrationVersion)
	w.Uint8(3)
	w.Uint64(math.Float64bits(1))
	w.Uint64(0)
	w.Count(0)
	_, err := Decode(w.Seal())
	require.EqualError(t, err, "calibration: corrupt canonical bytes: method 3, want 0 to 2")
}
