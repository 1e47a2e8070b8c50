package trees

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/tabular"
)

// Packed eight a word and added eight at once, the bins of every
// feature hold the sums of their rows: in the root, in a leaf, and in its sibling by
// subtraction.
func TestHistogramsOfWideRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := tabular.Rows{Cols: rapid.IntRange(1, 3*lanes).Draw(t, "cols")}
		n := rapid.IntRange(2, 60).Draw(t, "rows")
		d := lethe.NewDraw(rapid.Uint64().Draw(t, "seed"), "wide rows")
		for range n {
			for range r.Cols {
				r.Features = append(r.Features, float32(d.IntN(9)))
			}
			r.Labels = append(r.Labels, int32(d.IntN(2)))
		}
		g := newGrower(newBinned(r, maxBins), Defaults(), float64(n))
		g.take(everyRow(nil, n), g.data.varying(drawFeatures(r.Cols, 0, Defaults())))
		for i := range n {
			g.cells[i] = g.limits.row(d.Float64()-.5, d.Float64()/4)
			g.rows[i] = int32(i)
		}
		cut := rapid.IntRange(1, n-1).Draw(t, "cut")
		all, left := growing{to: n}, growing{to: cut}
		g.gather(&left)
		g.lend(&all)
		g.lend(&left)
		for b := range g.bins.words {
			g.fill(&all, b)
			g.fill(&left, b)
		}
		for _, c := range g.columns {
			bins := g.data.count(c.feature)
			rest := *g.histogram(&all, c.position)
			subtract(rest[:bins], g.histogram(&left, c.position)[:bins])
			want := make([][3]cell, bins)
			for i, bin := range g.data.column(c.feature) {
				want[bin][0] = want[bin][0].plus(g.cells[i])
				side := 1
				if i >= cut {
					side = 2
				}
				want[bin][side] = want[bin][side].plus(g.cells[i])
			}
			for bin, w := range want {
				require.Equal(t, w, [3]cell{
					g.histogram(&all, c.position)[bin], g.histogram(&left, c.position)[bin], rest[bin],
				})
			}
		}
	})
}
