package trees

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/internal/golden"
	"lethe/trainer/tabular"
)

// The values of the shap package for trees that it was given.
func TestGoldenExplanations(t *testing.T) {
	type file struct {
		golden.File
		Cases []struct {
			Trees []struct {
				Left, Right, Default, Feature []int32
				Threshold, Value, Cover       []float32
			}
			Rows   [][]*float32
			Expect struct {
				Expected float64
				Terms    golden.Tensor
			}
		}
	}
	golden.Each(t, "shap.json", func(t *testing.T, f file) {
		for _, c := range f.Cases {
			m := &Model{classes: 2, features: len(c.Rows[0]), base: []float64{0}}
			for _, from := range c.Trees {
				made := make(tree, len(from.Left))
				for i := range made {
					made[i] = node{feature: leaf, value: from.Value[i], cover: from.Cover[i]}
					if from.Left[i] >= 0 {
						made[i].feature, made[i].value = from.Feature[i], from.Threshold[i]
						made[i].right, made[i].missingLeft = uint32(from.Right[i]), from.Default[i] == from.Left[i]
					}
				}
				m.trees = append(m.trees, made)
			}
			m.compile()
			for i, values := range c.Rows {
				row := make([]float32, m.features)
				for k, v := range values {
					if row[k] = lethe.Missing(); v != nil {
						row[k] = *v
					}
				}
				e, err := m.Explain(row)
				require.NoError(t, err)
				require.InDelta(t, c.Expect.Expected, e.Expected[0], f.Atol)
				require.InDeltaSlice(t, c.Expect.Terms.Data[i*m.features:(i+1)*m.features], e.Terms, f.Atol, "row %d", i)
			}
		}
	})
}

// Shapley's formula itself, over all sets of features.
func TestExplainIsShapleysFormula(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const features = 4
		w := drawTree(rt, features, 4)
		row := make([]float32, features)
		for f := range row {
			row[f] = float32(rapid.IntRange(-2, 2).Draw(rt, "value"))
			if rapid.IntRange(0, 4).Draw(rt, "missing") == 0 {
				row[f] = lethe.Missing()
			}
		}
		m := &Model{classes: 2, features: features, base: []float64{.25}, trees: []tree{w, w}}
		m.compile()
		got, err := m.Explain(row)
		require.NoError(rt, err)

		sum := got.Expected[0]
		for f := range features {
			want := 0.0
			for set := range uint(1 << features) {
				if set>>f&1 == 1 {
					continue
				}
				n := bits.OnesCount(set)
				orders := factorial(n) * factorial(features-n-1) / factorial(features)
				want += 2 * orders * (given(w, 0, row, set|1<<f) - given(w, 0, row, set))
			}
			require.InDelta(rt, want, got.Terms[f], 1e-9)
			sum += got.Terms[f]
		}
		require.InDelta(rt, .25+2*given(w, 0, row, 0), got.Expected[0], 1e-9)
		scores := make([]float64, 1)
		m.score(row, scores)
		require.InDelta(rt, scores[0], sum, 1e-9)
	})
}

// given is the mean score of a tree if some features of the row are known.
func given(t tree, at uint32, row []float32, known uint) float64 {
	n := t[at]
	if n.feature == leaf {
		return float64(n.value)
	}
	if known>>n.feature&1 == 1 {
		if v := row[n.feature]; v <= n.value || v != v && n.missingLeft {
			return given(t, at+1, row, known)
		}
		return given(t, n.right, row, known)
	}
	share := func(next uint32) float64 { return float64(t[next].cover / n.cover) }
	return share(at+1)*given(t, at+1, row, known) + share(n.right)*given(t, n.right, row, known)
}

func factorial(n int) float64 { return math.Gamma(float64(n + 1)) }

// drawTree draws a tree whose covers are powers of two, so that shares are exact.
func drawTree(rt *rapid.T, features, depth int) tree {
	var out tree
	var grow func(left int, cover float32)
	grow = func(left int, cover float32) {
		at := len(out)
		out = append(out, node{feature: leaf, value: float32(rapid.IntRange(-9, 9).Draw(rt, "leaf")), cover: cover})
		if left == 0 || rapid.IntRange(0, 3).Draw(rt, "stop") == 0 {
			return
		}
		out[at] = node{
			feature: int32(rapid.IntRange(0, features-1).Draw(rt, "feature")), cover: cover,
			value: float32(rapid.IntRange(-2, 2).Draw(rt, "threshold")), missingLeft: rapid.Bool().Draw(rt, "left"),
		}
		share := rapid.SampledFrom([]float32{.25, .5, .75}).Draw(rt, "share")
		grow(left-1, cover*share)
		out[at].right = uint32(len(out))
		grow(left-1, cover*(1-share))
	}
	grow(depth, 1024)
	return out
}

func TestExplainAddsUp(t *testing.T) {
	rows := tabular.Rows{Cols: 3}
	d := lethe.NewDraw(7, "explain")
	for i := range 120 {
		for f := range 3 {
			value := d.At(uint64(3*i + f))
			rows.Features = append(rows.Features, float32(value.Normal()))
		}
		rows.Labels = append(rows.Labels, int32(i%3))
		rows.Features[3*i] += float32(i % 3)
	}
	c := Defaults()
	c.Classes, c.Rounds, c.MinChildRows = 3, 8, 2
	m, _, err := Fit(t.Context(), rows, c)
	require.NoError(t, err)
	e, err := m.Explain(rows.Row(5))
	require.NoError(t, err)
	scores := make([]float64, 3)
	m.score(rows.Row(5), scores)
	moved := 0.0
	for o, want := range scores {
		sum := e.Expected[o]
		for _, term := range e.Terms[3*o : 3*o+3] {
			sum += term
			moved += math.Abs(term)
		}
		require.InDelta(t, want, sum, 1e-9)
		require.Equal(t, want, e.Scores[o])
	}
	require.Positive(t, moved)
	_, err = m.Explain(rows.Row(5)[:2])
	require.ErrorIs(t, err, tabular.ErrInvalidRows)
}
