package trees

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/tabular"
)

// A score never moves against the direction of a feature that rises while the
// others stay.
func TestMonotoneFeaturesHoldTheirDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		o.Classes, o.PositiveWeight, o.MaxDepth, o.MaxLeaves, o.Rounds = 2, 1, 0, 12, 10
		r := drawRows(t, 2)
		for range r.Cols {
			o.Monotone = append(o.Monotone, rapid.SampledFrom([]int8{-1, 1, 0}).Draw(t, "direction"))
		}
		o.Monotone = o.Monotone[:r.Cols]
		m, _ := mustFit(t, r, o)
		low, high := make([]float64, 1), make([]float64, 1)
		for f, direction := range o.Monotone {
			for range 20 {
				row := make([]float32, r.Cols)
				for i := range row {
					row[i] = rapid.Float32Range(-5, 5).Draw(t, "probe")
				}
				m.score(row, low)
				row[f] += rapid.Float32Range(0, 4).Draw(t, "rise")
				m.score(row, high)
				require.GreaterOrEqual(t, float64(direction)*(high[0]-low[0]), 0.0)
			}
		}
	})
}

// A direction that the rows follow anyway costs little; one that they run against
// leaves nothing to learn.
func TestMonotoneFeatureLearnsWhatItMay(t *testing.T) {
	r := tabular.Rows{Cols: 1}
	d := lethe.NewDraw(3, "monotone rows")
	for range 400 {
		v := d.Float32()
		r.Features = append(r.Features, v)
		label := int32(0)
		if d.Float32() < v {
			label = 1
		}
		r.Labels = append(r.Labels, label)
	}
	loss := map[int8]float64{}
	for _, direction := range []int8{-1, 0, 1} {
		_, report, err := Fit(t.Context(), r, with(func(c *Config) { c.Rounds, c.Monotone = 20, []int8{direction} }))
		require.NoError(t, err)
		loss[direction] = report.FinalLoss
		if direction == -1 {
			require.InDelta(t, report.FirstLoss, report.FinalLoss, 1e-6)
		}
	}
	require.Less(t, loss[0], loss[1])
	require.Less(t, loss[1], loss[-1]-.1)
}

// With many noisy rows and deep trees, later splits by other features try to cross
// what an earlier one has parted: along a grid nothing falls.
func TestMonotoneHoldsInDeepTrees(t *testing.T) {
	r := tabular.Rows{Cols: 3}
	d := lethe.NewDraw(5, "noisy monotone rows")
	for range 1000 {
		x, y, z := d.Float32(), d.Float32(), d.Float32()
		label := int32(0)
		if d.Float32() < (x+y*z)/2 {
			label = 1
		}
		r.Features, r.Labels = append(r.Features, x, y, z), append(r.Labels, label)
	}
	for _, kind := range []string{Boosted, Forest, Extra} {
		m, _, err := Fit(t.Context(), r, with(func(c *Config) {
			c.Kind, c.Rounds, c.MinChildRows, c.MaxLeaves, c.Monotone = kind, 5, 2, 300, []int8{1, 0, -1}
		}))
		require.NoError(t, err)
		for f, direction := range []float64{1, 0, -1} {
			for range 200 {
				row, before, now := []float32{d.Float32(), d.Float32(), d.Float32()}, make([]float64, 1), make([]float64, 1)
				row[f] = 0
				m.score(row, before)
				for row[f] < 1 {
					row[f] += 1. / 64
					m.score(row, now)
					require.GreaterOrEqual(t, float64(direction*(now[0]-before[0])), 0.0, "%s, feature %d", kind, f)
					before[0] = now[0]
				}
			}
		}
	}
}
