package portable

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAgreesWithMath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-690, 700).Draw(t, "x")
		require.InEpsilon(t, math.Exp(x), Exp(x), 4e-15)
		require.InEpsilon(t, 1/(1+math.Exp(-x)), Logistic(x), 4e-15)
		require.InDelta(t, math.Max(x, 0)+math.Log1p(math.Exp(-math.Abs(x))), LogOnePlusExp(x), 4e-16*(4+math.Abs(x)))
		y := rapid.Float64Range(1e-300, 1e300).Draw(t, "y")
		require.InDelta(t, math.Log(y), Log(y), 4e-16*(1+math.Abs(math.Log(y))))
		z := rapid.Float64Range(0.5, 2).Draw(t, "z")
		require.InDelta(t, math.Log(z), Log(z), 4e-16)
	})
}

func TestEdges(t *testing.T) {
	require.Equal(t, 1.0, Exp(0))
	require.Zero(t, Exp(math.Inf(-1)))
	require.Equal(t, math.Inf(1), Exp(math.Inf(1)))
	require.True(t, math.IsNaN(Exp(math.NaN())))
	require.Zero(t, Log(1))
	require.Equal(t, 0.5, Logistic(0))
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		require.Panics(t, func() { Log(x) }, "%v", x)
	}
}

func TestSoftmax(t *testing.T) {
	z := []float64{1000, 1000 + math.Ln2, -1000}
	require.InDelta(t, 1000+math.Log(3), Softmax(z), 1e-12)
	require.InDeltaSlice(t, []float64{1.0 / 3, 2.0 / 3, 0}, z, 1e-13)
}
