package stack

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/canonical"
)

func TestCodecRefusesWhatWasNotWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := Fit(drawRows(t), Defaults())
		require.NoError(t, err)
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
	for name, forged := range map[string]*Combination{
		"no component":           {},
		"too many components":    {coefficients: make([]float64, MaxComponents+1)},
		"a negative coefficient": {coefficients: []float64{1, -0.1}},
		"an infinite one":        {coefficients: []float64{math.Inf(1)}},
		"not a number":           {coefficients: []float64{math.NaN()}},
		"an infinite intercept":  {coefficients: []float64{1}, intercept: math.Inf(-1)},
		"intercept not a number": {coefficients: []float64{1}, intercept: math.NaN()},
	} {
		_, err := Decode(forged.Encode())
		require.ErrorIs(t, err, canonical.ErrCorrupt, name)
	}
	data := (&Combination{coefficients: []float64{1}}).Encode()
	w := canonical.NewWriter(combinationMagic, combinationVersion+1)
	w.Bytes(data[5 : len(data)-32])
	_, err := Decode(w.Seal())
	require.ErrorIs(t, err, canonical.ErrVersion)
}
