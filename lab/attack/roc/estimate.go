package roc

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// ErrOneKind marks samples of one kind only, for which there is no curve. The
// caller should take more targets.
var ErrOneKind = errors.New("samples of both kinds are needed")

// Estimate is an area under a ROC curve with its standard error.
type Estimate struct {
	AUC           float64 `json:"auc"`
	StandardError float64 `json:"standard_error"`
}

// Interval is a confidence interval. It holds its ends.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Contains reports whether x lies in the interval.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// DeLong returns the area under the ROC curve, ties counting one half, and its
// standard error by DeLong, DeLong and Clarke-Pearson, "Comparing the areas
// under two or more correlated receiver operating characteristic curves",
// Biometrics 1988. Samples must be independent of each other. It panics if the
// lengths differ.
func DeLong(scores []float64, positive []bool) (Estimate, error) {
	p, n := split(scores, positive)
	if len(p) == 0 || len(n) == 0 {
		return Estimate{}, fmt.Errorf("%w: %d positive, %d negative", ErrOneKind, len(p), len(n))
	}
	won, lost := placements(p, n), placements(n, p)
	auc := stat.Mean(won, nil)
	return Estimate{AUC: auc, StandardError: math.Sqrt(meanVariance(won) + meanVariance(lost))}, nil
}

// split sorts the scores by kind.
func split(scores []float64, positive []bool) (p, n []float64) {
	if len(scores) != len(positive) {
		panic("roc: number of scores and of labels differ")
	}
	for i, s := range scores {
		if positive[i] {
			p = append(p, s)
		} else {
			n = append(n, s)
		}
	}
	return p, n
}

// placements returns, for every a, the share of b that lie below it, a tie
// counting one half.
func placements(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i, x := range a {
		won := 0.0
		for _, y := range b {
			switch {
			case x > y:
				won++
			case x == y:
				won += .5
			}
		}
		out[i] = won / float64(len(b))
	}
	return out
}

// meanVariance is the variance of the mean, 0 for a single sample.
func meanVariance(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	return stat.Variance(values, nil) / float64(len(values))
}

// Interval returns the normal interval at a confidence such as 0.95, cut at 0
// and 1.
func (e Estimate) Interval(confidence float64) Interval {
	reach := quantile(confidence) * e.StandardError
	return Interval{Low: max(0, e.AUC-reach), High: min(1, e.AUC+reach)}
}

// Excess returns the interval of e's area minus that of other, two independent
// estimates.
func (e Estimate) Excess(other Estimate, confidence float64) Interval {
	reach := quantile(confidence) * math.Hypot(e.StandardError, other.StandardError)
	return Interval{Low: e.AUC - other.AUC - reach, High: e.AUC - other.AUC + reach}
}

// quantile is how many standard errors a two-sided interval reaches.
func quantile(confidence float64) float64 {
	return distuv.UnitNormal.Quantile(.5 + confidence/2)
}
