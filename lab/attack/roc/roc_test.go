package roc_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"lethe"
	"lethe/lab/attack/roc"
)

func TestDeLongByHand(t *testing.T) {
	// Pairs won: 3>1, 3>2, 2>1, and half of 2=2, so 3.5 of 4. Placements are
	// {1, 3/4} and {0, 1/4}; each mean has variance 1/64.
	e, err := roc.DeLong([]float64{3, 1, 2, 2}, []bool{true, false, true, false})
	require.NoError(t, err)
	require.Equal(t, .875, e.AUC)
	require.InDelta(t, math.Sqrt(1./32), e.StandardError, 1e-15)

	i := e.Interval(.95)
	require.InDelta(t, .875-1.959964*math.Sqrt(1./32), i.Low, 1e-6)
	require.Equal(t, 1., i.High, "cut at 1")
	require.True(t, i.Contains(.875))
	require.False(t, i.Contains(.5))

	_, err = roc.DeLong([]float64{1, 2}, []bool{true, true})
	require.ErrorIs(t, err, roc.ErrOneKind)
}

func TestDeLongOfScoresThatTellNothing(t *testing.T) {
	e, err := roc.DeLong(make([]float64, 6), []bool{true, false, true, false, true, false})
	require.NoError(t, err)
	require.Equal(t, roc.Estimate{AUC: .5}, e)
	require.True(t, e.Interval(.95).Contains(.5))
}

func TestExcessByHand(t *testing.T) {
	i := roc.Estimate{AUC: .7, StandardError: .03}.Excess(roc.Estimate{AUC: .6, StandardError: .04}, .95)
	require.InDelta(t, .1-1.959964*.05, i.Low, 1e-6)
	require.InDelta(t, .1+1.959964*.05, i.High, 1e-6)
}

// sample draws scores whose true area is Φ(shift/√2). Members of a cluster share
// a part of their score.
func sample(draw *lethe.Draw, clusters, size int, shift, shared float64) []roc.Sample {
	var out []roc.Sample
	for c := range clusters {
		common := draw.Normal()
		for i := range size {
			s := roc.Sample{Score: math.Sqrt(shared)*common + math.Sqrt(1-shared)*draw.Normal(), Cluster: c}
			// Whole clusters are of one kind where they share, so that
			// dependence counts most.
			if s.Positive = (c+i*int(1-math.Ceil(shared)))%2 == 0; s.Positive {
				s.Score += shift
			}
			out = append(out, s)
		}
	}
	return out
}

func TestIntervalsHoldTheTruthAsOftenAsTheySay(t *testing.T) {
	for _, shift := range []float64{0, 1} {
		truth := distuv.UnitNormal.CDF(shift / math.Sqrt2)
		held, rounds := 0, 1000
		for r := range rounds {
			var scores []float64
			var positive []bool
			for _, s := range sample(lethe.NewDraw(1, "coverage", uint64(r)), 80, 1, shift, 0) {
				scores, positive = append(scores, s.Score), append(positive, s.Positive)
			}
			e, err := roc.DeLong(scores, positive)
			require.NoError(t, err)
			if e.Interval(.9).Contains(truth) {
				held++
			}
		}
		// Three standard errors of a share of 0.9 over 1,000 rounds are 0.028.
		require.InDelta(t, .9, float64(held)/float64(rounds), .028, "shift %g", shift)
	}
}

func TestBootstrapCountsDependence(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 10
	}
	alone, together, naive := 0, 0, 0
	for r := range rounds {
		independent := sample(lethe.NewDraw(2, "bootstrap", uint64(r)), 40, 1, 0, 0)
		e, err := roc.Bootstrap(independent, 1)
		require.NoError(t, err)
		alone += holds(e)
		clustered := sample(lethe.NewDraw(3, "bootstrap", uint64(r)), 16, 8, 0, .8)
		e, err = roc.Bootstrap(clustered, 1)
		require.NoError(t, err)
		together += holds(e)
		for i := range clustered {
			clustered[i].Cluster = i
		}
		e, err = roc.Bootstrap(clustered, 1)
		require.NoError(t, err)
		naive += holds(e)
	}
	require.GreaterOrEqual(t, alone, rounds*8/10)
	require.GreaterOrEqual(t, together, rounds*8/10)
	require.Less(t, naive, rounds*7/10, "samples taken as independent although they are not should miss the truth often")
}

func holds(e roc.Estimate) int {
	if e.Interval(.95).Contains(.5) {
		return 1
	}
	return 0
}

func TestBootstrapIsKeyed(t *testing.T) {
	samples := sample(lethe.NewDraw(4, "bootstrap"), 40, 2, .5, 0)
	a, err := roc.Bootstrap(samples, 1)
	require.NoError(t, err)
	b, err := roc.Bootstrap(samples, 1)
	require.NoError(t, err)
	require.Equal(t, a, b)
	c, err := roc.Bootstrap(samples, 2)
	require.NoError(t, err)
	require.Equal(t, a.AUC, c.AUC)
	require.NotEqual(t, a.StandardError, c.StandardError)
	_, err = roc.Bootstrap([]roc.Sample{{Positive: true}}, 1)
	require.ErrorIs(t, err, roc.ErrOneKind)
}

func TestCurveByHand(t *testing.T) {
	scores, positive := []float64{3, 2, 2, 1}, []bool{true, true, false, false}
	curve := roc.Curve(scores, positive)
	require.Equal(t, []roc.Point{
		{FalsePositiveRate: 0, TruePositiveRate: 0},
		{FalsePositiveRate: 0, TruePositiveRate: .5},
		{FalsePositiveRate: .5, TruePositiveRate: 1},
		{FalsePositiveRate: 1, TruePositiveRate: 1},
	}, curve)
	require.Equal(t, .5, roc.CertainShare(curve))
	require.Equal(t, []float64{3, 2, 2, 1}, scores, "the scores are left in their order")
}
