package logistic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/canonical"
	"lethe/internal/golden"
	"lethe/trainer/tabular"
)

type goldenFits struct {
	Rtol, Atol float64
	Cases      []struct {
		Name    string
		Classes int
		L2      float64
		X       golden.Tensor
		Y       []int32
		Weights []float32
		Expect  struct {
			Probabilities golden.Tensor
			Loss          float64
		}
	}
}

// The minimum is that of SciPy and scikit-learn.
func TestGoldenFits(t *testing.T) {
	golden.Each(t, "logistic.json", func(t *testing.T, file goldenFits) {
		for _, c := range file.Cases {
			rows := tabular.Rows{Cols: c.X.Shape[1], Features: c.X.Floats(), Labels: c.Y, Weights: c.Weights}
			m, report, err := Fit(t.Context(), rows, with(func(o *Config) { o.Classes, o.L2 = c.Classes, c.L2 }))
			require.NoError(t, err)
			require.True(t, report.Converged, c.Name)
			require.InDelta(t, c.Expect.Loss, report.Loss, file.Atol, c.Name)
			p, err := m.Probabilities(rows.Features)
			require.NoError(t, err)
			golden.Comparer{T: t, Rtol: file.Rtol, Atol: file.Atol}.Values(c.Name, c.Expect.Probabilities, p)
		}
	})
}

// The bytes were made on amd64, and are promised to be the same on every processor.
// A change of the arithmetic or of the format shows here.
func TestBytesArePinned(t *testing.T) {
	for classes, want := range map[int]string{
		2: "f58a4c8dcd534f6fb0b2d9fa69d091b925d2997dbaf148086e807a8a54bcac6e",
		4: "083eea0598a692405f43a7812938c9037037a0cc354ca8e49c49f33081ea233f",
	} {
		r := tabular.Rows{Cols: 7}
		for i := range 90 {
			for f := range r.Cols {
				r.Features = append(r.Features, float32((i*i*31+f*f*17+i*f)%97)/8)
			}
			r.Labels = append(r.Labels, int32((i*i+i/7)%classes))
			r.Weights = append(r.Weights, float32(1+i%3))
		}
		m, report, err := Fit(t.Context(), r, with(func(c *Config) { c.Classes = classes }))
		require.NoError(t, err)
		require.Greater(t, report.Iterations, 5)
		require.Equal(t, want, canonical.DigestOf(m.Encode()).String(), "%d classes", classes)
	}
}
