package trees

import (
	"math"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/trainer/tabular"
)

// drawRows draws rows with few distinct values, so that ties and constant
// features are common, some of them missing.
func drawRows(t *rapid.T, classes int) tabular.Rows {
	r := tabular.Rows{Cols: rapid.IntRange(1, 4).Draw(t, "cols")}
	gaps := rapid.Bool().Draw(t, "gaps")
	for range rapid.IntRange(1, 40).Draw(t, "rows") {
		for range r.Cols {
			v := float32(rapid.IntRange(-4, 4).Draw(t, "feature"))
			if gaps && rapid.IntRange(0, 3).Draw(t, "gap") == 0 {
				v = float32(math.NaN())
			}
			r.Features = append(r.Features, v)
		}
		r.Labels = append(r.Labels, int32(rapid.IntRange(0, classes-1).Draw(t, "label")))
		r.Weights = append(r.Weights, float32(rapid.IntRange(1, 8).Draw(t, "weight"))/4)
		r.Keys = append(r.Keys, rapid.Uint64Range(0, 50).Draw(t, "key"))
	}
	return r
}

// with returns the defaults with changes.
func with(change func(c *Config)) Config {
	c := Defaults()
	change(&c)
	return c
}

// drawConfig draws any configuration that allows small leaves.
func drawConfig(t *rapid.T) Config {
	return with(func(c *Config) {
		c.Classes, c.Rounds = rapid.IntRange(2, 4).Draw(t, "classes"), rapid.IntRange(1, 6).Draw(t, "rounds")
		c.MaxLeaves = rapid.IntRange(2, 8).Draw(t, "leaves")
		c.MinChildRows, c.MaxBins = rapid.IntRange(1, 4).Draw(t, "child rows"), rapid.IntRange(2, 16).Draw(t, "bins")
		c.FeatureShare = rapid.SampledFrom([]float64{0.5, 1}).Draw(t, "share")
		c.RowShare = rapid.SampledFrom([]float64{0.6, 1}).Draw(t, "row share")
		c.L2, c.Seed = rapid.Float64Range(0, 2).Draw(t, "l2"), rapid.Uint64().Draw(t, "seed")
	})
}

func mustFit(t *rapid.T, r tabular.Rows, o Config) (*Model, Report) {
	m, report, err := Fit(t.Context(), r, o)
	require.NoError(t, err)
	return m, report
}

// reorder returns the rows of a list.
func reorder(r tabular.Rows, order []int) tabular.Rows {
	out := tabular.Rows{Cols: r.Cols}
	for _, i := range order {
		out.Features = append(out.Features, r.Row(i)...)
		out.Labels = append(out.Labels, r.Labels[i])
		out.Weights = append(out.Weights, float32(r.Weight(i)))
		if r.Keys != nil {
			out.Keys = append(out.Keys, r.Keys[i])
		}
	}
	return out
}

// pinnedRows are rows that the pinned bytes are of.
func pinnedRows() tabular.Rows {
	r := tabular.Rows{Cols: 3}
	for i := range 200 {
		x := float64(i)
		r.Features = append(r.Features, float32(math.Mod(x*7, 31)), float32(math.Mod(x*x, 17)), float32(i%5))
		r.Labels = append(r.Labels, int32((i*i/3+i%7)%3))
	}
	return r
}

// count is the number of rows of a sum.
func (s scale) count(c cell) int { return int(c.packed >> s.shift) }
