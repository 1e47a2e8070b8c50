package trees

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/tabular"
)

// Sums are integers and draws are keyed, so not a bit depends on the order of the rows.
func TestOrderOfRowsDoesNotCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		r := drawRows(t, o.Classes)
		if rapid.Bool().Draw(t, "without keys") {
			r.Keys = nil
		}
		order := make([]int, r.Len())
		for i := range order {
			order[i] = i
		}
		m, _ := mustFit(t, r, o)
		n, _ := mustFit(t, reorder(r, rapid.Permutation(order).Draw(t, "order")), o)
		require.Equal(t, m.Encode(), n.Encode())
	})
}

// What a fit had to forget leaves no trace: rows that come and go, in between and
// behind, give the bytes of a fit that never met them.
func TestRowsThatWentLeaveNoTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		r := drawRows(t, o.Classes)
		o.RowShare = 0.6
		stay := rapid.SliceOfNDistinct(rapid.IntRange(0, r.Len()-1), 1, r.Len(), rapid.ID).Draw(t, "stay")
		never, _ := mustFit(t, reorder(r, stay), o)
		all, _ := mustFit(t, r, o)
		again, _ := mustFit(t, reorder(r, slices.Sorted(slices.Values(stay))), o)
		require.Equal(t, never.Encode(), again.Encode())
		if len(stay) == r.Len() {
			require.Equal(t, never.Encode(), all.Encode())
		}
		// The draws of those that stay are what they were beside the others.
		draws := func(r tabular.Rows) map[uint64]bool {
			bag, rest := newSampler(r, o.RowShare).draw(*lethe.NewDraw(o.Seed, "x"), func(int) float64 { return 1 })
			in := map[uint64]bool{}
			if len(rest) == 0 {
				return in // none was drawn, so all are taken
			}
			for _, i := range bag {
				in[r.Keys[i]] = true
			}
			for _, i := range rest {
				require.False(t, in[r.Keys[i]])
				in[r.Keys[i]] = false
			}
			return in
		}
		before := draws(r)
		for key, in := range draws(reorder(r, stay)) {
			if was, known := before[key]; known {
				require.Equal(t, was, in)
			}
		}
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
		o.LearningRate, o.Rounds, o.RowShare = 0.3, 1, 1
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
		latest := got.Latest(2)
		require.Equal(t, 2, latest.Rounds())
		stored, err := Decode(latest.Encode())
		require.NoError(t, err)
		want2, err := stored.Probabilities(r.Features)
		require.NoError(t, err)
		got2, err := latest.Probabilities(r.Features)
		require.NoError(t, err)
		require.Equal(t, want2, got2)
	})
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
