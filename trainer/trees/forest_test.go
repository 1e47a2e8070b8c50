package trees

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

func TestEveryKindLearnsRings(t *testing.T) {
	for _, classes := range []int{2, 3} {
		train, test := rings(1500, classes, 1), rings(500, classes, 2)
		for _, kind := range []string{Boosted, Forest, Extra} {
			o := Defaults()
			if kind != Boosted {
				o = forestDefaults(kind, train.Cols)
			}
			o.Classes = classes
			m, report, err := Fit(t.Context(), train, o)
			require.NoError(t, err)
			require.Less(t, report.FinalLoss, report.FirstLoss/2, kind)
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
			require.Greater(t, right, 450, "%s of %d classes", kind, classes)
		}
	}
}

// A tree of a forest that sees all rows has the frequencies of its leaves' rows,
// and the forest their mean.
func TestForestsHoldFrequencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		o.Kind = rapid.SampledFrom([]string{Forest, Extra}).Draw(t, "forest")
		o.RowShare, o.PositiveWeight, o.Monotone, o.Rounds, o.L2 = 1, 1, nil, 1, 0
		r := drawRows(t, o.Classes)
		m, _ := mustFit(t, r, o)
		p, err := m.Probabilities(r.Features)
		require.NoError(t, err)
		type counts struct{ own, all float64 }
		leaves := map[float32]counts{}
		key := func(i int) float32 { return p[i*o.Classes+1] }
		for i, class := range r.Labels {
			c := leaves[key(i)]
			c.all += r.Weight(i)
			if class == 1 {
				c.own += r.Weight(i)
			}
			leaves[key(i)] = c
		}
		for value, c := range leaves {
			require.InDelta(t, c.own/c.all, value, 1e-6)
		}
	})
}

// The threshold of an extra tree is drawn, not chosen: other seeds have others, while
// those of a forest that sees everything are the best ones under every seed.
func TestOnlyExtraTreesDrawThresholds(t *testing.T) {
	r := rings(300, 2, 1)
	for kind, same := range map[string]bool{Forest: true, Extra: false} {
		var models [2]*Model
		for seed := range models {
			m, _, err := Fit(t.Context(), r, with(func(c *Config) { c.Kind, c.Rounds, c.Seed = kind, 1, uint64(seed) }))
			require.NoError(t, err)
			models[seed] = m
		}
		require.Equal(t, same, string(models[0].Encode()) == string(models[1].Encode()), kind)
	}
}

// The trees of a forest go on where they ended, and a model is not extended by
// trees of the other kind.
func TestForestsDoNotMixWithBoostedTrees(t *testing.T) {
	r := rings(100, 2, 1)
	forest := forestDefaults(Forest, r.Cols)
	forest.Rounds = 2
	m, _, err := Fit(t.Context(), r, forest)
	require.NoError(t, err)
	_, _, err = Extend(t.Context(), m, r, Defaults())
	require.ErrorIs(t, err, tabular.ErrInvalidRows)
	boosted, _, err := Fit(t.Context(), r, Defaults())
	require.NoError(t, err)
	_, _, err = Extend(t.Context(), boosted, r, forest)
	require.ErrorIs(t, err, tabular.ErrInvalidRows)
}

// A frequency is no more than 1, even where weights of very different sizes leave few
// bits to the sums.
func TestFrequenciesStayWithinBounds(t *testing.T) {
	r := rings(1000, 2, 1)
	r.Weights = make([]float32, r.Len())
	for i, class := range r.Labels {
		if r.Weights[i] = 1e5; class == 1 {
			r.Weights[i] = .01
		}
	}
	o := forestDefaults(Extra, r.Cols)
	o.Rounds = 3
	m, _, err := Fit(t.Context(), r, o)
	require.NoError(t, err)
	_, err = Decode(m.Encode())
	require.NoError(t, err)
}

// forestDefaults returns the configuration of a Forest or of Extra trees for a number of
// features: a hundred trees as deep as the rows allow, with splits that choose from the square
// root of the features. A tree of a Forest uses 63.2 % of the rows, the share of distinct rows in
// a bootstrap sample; Extra trees use all, as in their paper.
func forestDefaults(kind string, features int) Config {
	c := Defaults()
	c.Kind, c.LearningRate, c.MaxLeaves, c.MinChildRows = kind, 1, 1<<16, 1
	c.SplitShare = min(1, 1/math.Sqrt(float64(max(1, features))))
	if kind == Forest {
		c.RowShare = 0.632
	}
	return c
}
