package trees

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/trainer/tabular"
)

// missing stands for a value that a row has not.
func missing() float32 { return float32(math.NaN()) }

// Rows without a value go to the side whose rows are like them, whichever it is,
// and are told apart even where all other rows have one value.
func TestMissingRowsGoWhereTheyBelong(t *testing.T) {
	o := with(func(c *Config) { c.Rounds, c.MinChildRows, c.MaxLeaves, c.LearningRate = 1, 1, 2, 1 })
	nan := missing()
	for name, c := range map[string]struct {
		features []float32
		labels   []int32
		left     bool
	}{
		"with the small":  {[]float32{1, 2, 3, 4, nan, nan}, []int32{0, 0, 1, 1, 0, 0}, true},
		"with the large":  {[]float32{1, 2, 3, 4, nan, nan}, []int32{0, 0, 1, 1, 1, 1}, false},
		"by themselves":   {[]float32{5, 5, nan, nan}, []int32{0, 0, 1, 1}, false},
		"at the fit only": {[]float32{-5, -5, -1, nan}, []int32{0, 0, 1, 1}, false},
	} {
		m, _, err := Fit(t.Context(), tabular.Rows{Cols: 1, Features: c.features, Labels: c.labels}, o)
		require.NoError(t, err)
		require.Len(t, m.trees[0], 3, name)
		require.Equal(t, c.left, m.trees[0][0].missingLeft, name)
		p, err := m.Probabilities(c.features)
		require.NoError(t, err)
		for i, class := range c.labels {
			require.Equal(t, class == 1, p[2*i+1] > .5, "%s: row %d", name, i)
		}
	}
}

// Where no row of the fit missed a feature, rows without go with zero, as they do in
// LightGBM.
func TestUnseenMissingIsZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		r := drawRows(t, o.Classes)
		for i, v := range r.Features {
			if v != v {
				r.Features[i] = 1
			}
		}
		m, _ := mustFit(t, r, o)
		nan, zero := make([]float32, r.Cols), make([]float32, r.Cols)
		for i := range nan {
			nan[i] = missing()
		}
		a, err := m.Probabilities(nan)
		require.NoError(t, err)
		b, err := m.Probabilities(zero)
		require.NoError(t, err)
		require.Equal(t, b, a)
	})
}

// Asking many rows at once, side by side or one by one where values are missing,
// gives what the trees say of each.
func TestProbabilitiesAreThoseOfEveryRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		m, _ := mustFit(t, drawRows(t, o.Classes), o)
		n := rapid.IntRange(0, 3*blockRows).Draw(t, "asked")
		features := make([]float32, n*m.Features())
		for i := range features {
			features[i] = float32(rapid.IntRange(-5, 5).Draw(t, "value"))
		}
		if n > 0 && rapid.Bool().Draw(t, "gap") {
			features[rapid.IntRange(0, len(features)-1).Draw(t, "at")] = missing()
		}
		got, err := m.Probabilities(features)
		require.NoError(t, err)
		var want []float32
		scores := make([]float64, m.outputs())
		for i := range n {
			m.score(features[i*m.features:(i+1)*m.features], scores)
			want = m.appendProbabilities(want, scores)
		}
		require.Equal(t, len(want), len(got))
		for i := range want {
			require.Equal(t, want[i], got[i])
		}
	})
}

// The walk through the nodes that a caller can do by itself comes to the scores of
// the model.
func TestTreesAddUpToScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		r := drawRows(t, o.Classes)
		m, _ := mustFit(t, r, o)
		scores, walked := make([]float64, m.outputs()), m.Base()
		row := r.Row(0)
		seen := 0
		for tree := range m.Trees() {
			require.Equal(t, []int{seen / m.outputs(), seen % m.outputs()}, []int{tree.Round, tree.Output})
			at := 0
			seen++
			for tree.Nodes[at].Feature >= 0 {
				n := tree.Nodes[at]
				require.InDelta(t, n.Cover, tree.Nodes[n.Left].Cover+tree.Nodes[n.Right].Cover, 1e-3)
				if v := row[n.Feature]; v <= n.Threshold || v != v && n.MissingLeft {
					at = n.Left
				} else {
					at = n.Right
				}
			}
			walked[tree.Output] += float64(tree.Nodes[at].Value)
		}
		m.score(row, scores)
		require.Equal(t, scores, walked)
		if o.RowShare == 1 {
			total := 0.0
			for i := range r.Len() {
				total += r.Weight(i)
			}
			require.InDelta(t, total, m.trees[0][0].cover, 1e-3)
		}
	})
}
