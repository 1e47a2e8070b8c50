package trees

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/canonical"
	"lethe/trainer/tabular"
)

// drawRows draws rows with few distinct values, so that ties and constant
// features are common.
func drawRows(t *rapid.T, classes int) tabular.Rows {
	r := tabular.Rows{Cols: rapid.IntRange(1, 4).Draw(t, "cols")}
	for range rapid.IntRange(1, 40).Draw(t, "rows") {
		for range r.Cols {
			r.Features = append(r.Features, float32(rapid.IntRange(-4, 4).Draw(t, "feature")))
		}
		r.Labels = append(r.Labels, int32(rapid.IntRange(0, classes-1).Draw(t, "label")))
		r.Weights = append(r.Weights, float32(rapid.IntRange(1, 8).Draw(t, "weight"))/4)
	}
	return r
}

// with returns the defaults with changes.
func with(change func(c *Config)) Config {
	c := Defaults()
	change(&c)
	return c
}

func drawConfig(t *rapid.T) Config {
	return with(func(c *Config) {
		c.Classes, c.Rounds = rapid.IntRange(2, 4).Draw(t, "classes"), rapid.IntRange(1, 6).Draw(t, "rounds")
		c.MaxLeaves, c.MaxDepth = rapid.IntRange(2, 8).Draw(t, "leaves"), rapid.IntRange(0, 3).Draw(t, "depth")
		c.MinChildRows, c.L2 = rapid.IntRange(1, 4).Draw(t, "child rows"), rapid.Float64Range(0, 2).Draw(t, "l2")
		c.MaxBins, c.FeatureShare = rapid.IntRange(2, 16).Draw(t, "bins"),
			rapid.SampledFrom([]float64{0.5, 1}).Draw(t, "share")
		c.Seed = rapid.Uint64().Draw(t, "seed")
	})
}

func mustFit(t *rapid.T, r tabular.Rows, o Config) (*Model, Report) {
	m, report, err := Fit(t.Context(), r, o)
	require.NoError(t, err)
	return m, report
}

func reorder(r tabular.Rows, order []int) tabular.Rows {
	out := tabular.Rows{Cols: r.Cols}
	for _, i := range order {
		out.Features = append(out.Features, r.Row(i)...)
		out.Labels = append(out.Labels, r.Labels[i])
		out.Weights = append(out.Weights, float32(r.Weight(i)))
	}
	return out
}

// Sums are integers, so not a bit depends on the order of the rows.
func TestOrderOfRowsDoesNotCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		r := drawRows(t, o.Classes)
		order := make([]int, r.Len())
		for i := range order {
			order[i] = i
		}
		m, _ := mustFit(t, r, o)
		n, _ := mustFit(t, reorder(r, rapid.Permutation(order).Draw(t, "order")), o)
		require.Equal(t, m.Encode(), n.Encode())
	})
}

// Trees see the order of a feature's values, not their size.
func TestScaleOfFeaturesDoesNotCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		r := drawRows(t, o.Classes)
		scaled := r
		scaled.Features = make([]float32, len(r.Features))
		for i, v := range r.Features {
			scaled.Features[i] = 4*v + 16
		}
		m, _ := mustFit(t, r, o)
		n, _ := mustFit(t, scaled, o)
		want, err := m.Probabilities(r.Features)
		require.NoError(t, err)
		got, err := n.Probabilities(scaled.Features)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestLossFallsRoundByRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		o.LearningRate, o.Rounds = 0.3, 1
		r := drawRows(t, o.Classes)
		m, report := mustFit(t, r, o)
		require.LessOrEqual(t, report.FinalLoss, report.FirstLoss+1e-9)
		for range 5 {
			next, after, err := Extend(t.Context(), m, r, o)
			require.NoError(t, err)
			require.InDelta(t, report.FinalLoss, after.FirstLoss, 1e-12)
			require.LessOrEqual(t, after.FinalLoss, after.FirstLoss+1e-9)
			m, report = next, after
		}
	})
}

// Growing in two calls is growing in one.
func TestExtendGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		r := drawRows(t, o.Classes)
		first, second, both := o, o, o
		first.Rounds, second.Rounds, both.Rounds = 3, 2, 5
		m, _ := mustFit(t, r, first)
		before := m.Encode()
		got, _, err := Extend(t.Context(), m, r, second)
		require.NoError(t, err)
		want, _ := mustFit(t, r, both)
		require.Equal(t, want.Encode(), got.Encode())
		require.Equal(t, before, m.Encode())
		require.Equal(t, 2, got.Latest(2).Rounds())
	})
}

// The histogram's root split is the best of all thresholds of all features,
// found by trying each, summing in floating point.
func TestSplitIsTheBestOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := with(func(c *Config) {
			c.Rounds, c.MaxLeaves = 1, 2
			c.MinChildRows, c.L2 = rapid.IntRange(1, 3).Draw(t, "child rows"), rapid.Float64Range(0, 2).Draw(t, "l2")
		})
		r := drawRows(t, 2)
		g := newGrower(newBinned(r, o.MaxBins), o)
		g.features = g.data.varying(drawFeatures(r.Cols, 0, o))
		gradients, hessians := make([]float64, r.Len()), make([]float64, r.Len())
		for i := range gradients {
			gradients[i], hessians[i] = rapid.Float64Range(-1, 1).Draw(t, "g"), rapid.Float64Range(0.01, 0.25).Draw(t, "h")
			g.gradients[i], g.hessians[i] = fixed(gradients[i]), fixed(hessians[i])
		}
		best := 0.0
		for f := range r.Cols {
			for at := range r.Len() {
				best = max(best, gainAt(r, f, r.Row(at)[f], gradients, hessians, o))
			}
		}
		got := 0.0
		if root := g.grow()[0]; root.feature != leaf {
			got = gainAt(r, int(root.feature), root.value, gradients, hessians, o)
		}
		require.InDelta(t, best, got, 1e-6)
	})
}

// gainAt is what splitting all rows at a threshold gains, or 0 if a side is too
// small.
func gainAt(r tabular.Rows, f int, threshold float32, gradients, hessians []float64, o Config) float64 {
	var g, h [3]float64
	var n [2]int
	for i := range r.Len() {
		side := 0
		if r.Row(i)[f] > threshold {
			side = 1
		}
		n[side]++
		for _, s := range []int{side, 2} {
			g[s] += gradients[i]
			h[s] += hessians[i]
		}
	}
	if n[0] < o.MinChildRows || n[1] < o.MinChildRows {
		return 0
	}
	q := func(s int) float64 { return g[s] * g[s] / (h[s] + o.L2) }
	return q(0) + q(1) - q(2)
}

func TestBinsKeepOrderAndShareRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "rows")
		zeros := rapid.IntRange(0, n).Draw(t, "zeros")
		r := tabular.Rows{Cols: 1, Labels: make([]int32, n), Features: make([]float32, n)}
		for i := zeros; i < n; i++ {
			r.Features[i] = rapid.Float32Range(-1, 1).Draw(t, "value")
		}
		most := rapid.IntRange(2, maxBins).Draw(t, "bins")
		b := newBinned(r, most)
		require.Less(t, len(b.thresholds[0]), most)
		column := b.column(0)
		for i, v := range r.Features {
			at := int(column[i])
			require.True(t, at == 0 || v > b.thresholds[0][at-1])
			require.True(t, at == len(b.thresholds[0]) || v <= b.thresholds[0][at])
		}
	})
}

// A value that most rows have must not use up the bins of the others.
func TestFrequentValueLeavesBinsToOthers(t *testing.T) {
	r := tabular.Rows{Cols: 1, Labels: make([]int32, 1000), Features: make([]float32, 1000)}
	for i := range 100 {
		r.Features[i] = float32(i + 1)
	}
	counts := make([]int, 11)
	for _, bin := range newBinned(r, 11).column(0) {
		counts[bin]++
	}
	require.Equal(t, []int{900, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, counts)
}

func TestProbabilitiesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		r := drawRows(t, o.Classes)
		m, _ := mustFit(t, r, o)
		p, err := m.Probabilities(r.Features)
		require.NoError(t, err)
		require.Len(t, p, r.Len()*o.Classes)
		for i := range r.Len() {
			sum := 0.0
			for _, v := range p[i*o.Classes : (i+1)*o.Classes] {
				require.True(t, v >= 0 && v <= 1)
				sum += float64(v)
			}
			require.InDelta(t, 1, sum, 1e-6)
		}
		_, err = m.Probabilities(make([]float32, r.Cols*2+1))
		if r.Cols > 1 {
			require.ErrorIs(t, err, tabular.ErrInvalidRows)
		}
	})
}

func TestCodecRefusesWhatWasNotWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		m, _ := mustFit(t, drawRows(t, o.Classes), o)
		data := m.Encode()
		back, err := Decode(data)
		require.NoError(t, err)
		require.Equal(t, data, back.Encode())
		_, err = Decode(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")])
		require.ErrorIs(t, err, canonical.ErrCorrupt)
		altered := append([]byte(nil), data...)
		altered[rapid.IntRange(0, len(data)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		_, err = Decode(altered)
		require.ErrorIs(t, err, canonical.ErrCorrupt)
	})
}

// A forged tree with a right checksum must not send a row in circles or out of
// its features.
func TestCodecRefusesForgedTrees(t *testing.T) {
	good := tree{{feature: 0, value: 1, right: 2}, {feature: leaf}, {feature: leaf}}
	for name, change := range map[string]func(tree) tree{
		"circle":   func(t tree) tree { t[0].right = 0; return t },
		"beyond":   func(t tree) tree { t[0].right = 3; return t },
		"feature":  func(t tree) tree { t[0].feature = 2; return t },
		"negative": func(t tree) tree { t[1].feature = -2; return t },
		"empty":    func(tree) tree { return nil },
		"open end": func(t tree) tree { t[2].feature = 1; return t },
		"NaN":      func(t tree) tree { t[0].value = float32(math.NaN()); return t },
		"infinite": func(t tree) tree { t[1].value = float32(math.Inf(1)); return t },
	} {
		m := &Model{classes: 2, features: 2, base: []float64{0}, trees: []tree{change(append(tree(nil), good...))}}
		_, err := Decode(m.Encode())
		require.ErrorIs(t, err, canonical.ErrCorrupt, name)
	}
	for name, m := range map[string]*Model{
		"one tree for three scores": {classes: 3, features: 2, base: make([]float64, 3), trees: []tree{good}},
		"a base score of NaN":       {classes: 2, features: 2, base: []float64{math.NaN()}, trees: []tree{good}},
	} {
		_, err := Decode(m.Encode())
		require.ErrorIs(t, err, canonical.ErrCorrupt, name)
	}
}

// The bytes are pinned: they are promised to be the same on every architecture.
// A change of the arithmetic or of the format shows here.
func TestBytesArePinned(t *testing.T) {
	r := tabular.Rows{Cols: 3}
	for i := range 200 {
		x := float64(i)
		r.Features = append(r.Features, float32(math.Mod(x*7, 31)), float32(math.Mod(x*x, 17)), float32(i%5))
		r.Labels = append(r.Labels, int32((i*i/3+i%7)%3))
	}
	m, _, err := Fit(t.Context(), r, with(func(c *Config) { c.Classes, c.Rounds, c.FeatureShare, c.Seed = 3, 20, 0.7, 5 }))
	require.NoError(t, err)
	require.Equal(t, "637af1387f8f936603d81e84a14f2332bdd77716d2de4bd295f2674741182ae7",
		canonical.DigestOf(m.Encode()).String())
}
