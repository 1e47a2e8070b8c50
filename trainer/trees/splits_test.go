package trees

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/tabular"
)

// The histogram's root split is the best of all thresholds of all features and
// both sides for missing values, found by trying each, summing in floating point.
func TestSplitIsTheBestOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := with(func(c *Config) {
			c.Rounds, c.MaxLeaves = 1, 2
			c.MinChildRows, c.L2 = rapid.IntRange(1, 3).Draw(t, "child rows"), rapid.Float64Range(0, 2).Draw(t, "l2")
		})
		r := drawRows(t, 2)
		n := r.Len()
		g := newGrower(newBinned(r, o.MaxBins), o, float64(n))
		g.take(everyRow(nil, n), g.data.varying(drawFeatures(r.Cols, 0, o)))
		gradients, hessians := make([]float64, n), make([]float64, n)
		for i := range gradients {
			gradients[i], hessians[i] = rapid.Float64Range(-1, 1).Draw(t, "g"), rapid.Float64Range(0.01, 0.25).Draw(t, "h")
			g.cells[i] = g.limits.row(gradients[i], hessians[i])
		}
		best := 0.0
		for f := range r.Cols {
			for at := range n {
				for _, missingLeft := range []bool{false, true} {
					best = max(best, gainAt(r, node{feature: int32(f), value: r.Row(at)[f], missingLeft: missingLeft},
						[2][]float64{gradients, hessians}, o))
				}
			}
		}
		got := 0.0
		g.grow()
		leafValue := func(*growing) float32 { return 0 }
		if root := g.flatten(leafValue, nil)[0]; root.feature != leaf {
			got = gainAt(r, root, [2][]float64{gradients, hessians}, o)
			require.InDelta(t, got, g.nodes[0].best.gain, 1e-5)
		}
		require.InDelta(t, best, got, 1e-5)
	})
}

// gainAt is what splitting all rows by a node gains, or 0 if a side is too small.
func gainAt(r tabular.Rows, by node, derivatives [2][]float64, o Config) float64 {
	var g, h [3]float64
	var n [2]int
	for i := range r.Len() {
		side := 0
		if v := r.Row(i)[by.feature]; v > by.value || v != v && !by.missingLeft {
			side = 1
		}
		n[side]++
		for _, s := range []int{side, 2} {
			g[s] += derivatives[0][i]
			h[s] += derivatives[1][i]
		}
	}
	if n[0] < o.MinChildRows || n[1] < o.MinChildRows || by.value != by.value {
		return 0
	}
	q := func(s int) float64 { return g[s] * g[s] / (h[s] + o.L2) }
	return q(0) + q(1) - q(2)
}

// However the sums of a leaf come about, by adding its rows up or by taking its
// sibling's from its parent's, and however its cells are packed, they are the sums
// of its rows.
func TestSumsOfLeavesAreThoseOfTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		o.Classes, o.MaxLeaves, o.RowShare = 2, 8, 1
		r := drawRows(t, 2)
		f := newFitter(&Model{classes: 2, features: r.Cols, base: []float64{0}}, r, o)
		f.boost, f.grower = newBooster(f), newGrower(newBinned(r, o.MaxBins), o, 1e3)
		f.grower.take(everyRow(nil, r.Len()), f.grower.data.varying(drawFeatures(r.Cols, 0, o)))
		f.addTrees(nil)
		for _, n := range f.grower.nodes {
			var want cell
			for _, i := range f.grower.rows[n.from:n.to] {
				want = want.plus(f.grower.cells[i])
			}
			require.Equal(t, want, n.all)
			require.Equal(t, n.to-n.from, f.grower.limits.count(want))
			if n.left != 0 {
				require.Positive(t, n.best.gain)
			}
		}
		for i := range r.Len() { // a row's leaf is where its range is
			at := f.grower.leafOf(int32(i))
			require.Contains(t, f.grower.rows[at.from:at.to], int32(i))
		}
	})
}

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
