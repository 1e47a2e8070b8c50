package trees

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/trainer/tabular"
)

// rings are rows that no single feature tells apart: the class is the ring that the
// first two features lie in. The others are noise.
func rings(n, classes int, seed uint64) tabular.Rows {
	r := tabular.Rows{Cols: 6}
	d := lethe.NewDraw(seed, "rings")
	for range n {
		x, y := 2*d.Float32()-1, 2*d.Float32()-1
		r.Features = append(r.Features, x, y, d.Float32(), d.Float32(), d.Float32(), d.Float32())
		r.Labels = append(r.Labels, min(int32(classes-1), int32(float32(classes)*(x*x+y*y))))
	}
	return r
}

func TestTreesLearnRings(t *testing.T) {
	for _, classes := range []int{2, 3} {
		train, test := rings(1500, classes, 1), rings(500, classes, 2)
		m, report, err := Fit(t.Context(), train, with(func(c *Config) { c.Classes = classes }))
		require.NoError(t, err)
		require.Less(t, report.FinalLoss, report.FirstLoss/2)
		p, err := m.Probabilities(test.Features)
		require.NoError(t, err)
		right := 0
		for i, class := range test.Labels {
			best := 0
			for c := range classes {
				if p[i*classes+c] > p[i*classes+best] {
					best = c
				}
			}
			if int32(best) == class {
				right++
			}
		}
		require.Greater(t, right, 450, "%d classes", classes)
	}
}
