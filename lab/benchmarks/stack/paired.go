package main

import (
	"slices"

	"lethe"
	"lethe/scoring/quality"
)

// resamples is how many bootstrap samples an interval rests on.
const resamples = 500

// paired is how much better a score is than another one on the same rows, with the
// interval that holds 95 % of the differences on rows drawn again with replacement
// (Efron and Tibshirani, An Introduction to the Bootstrap, 1993).
type paired struct {
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}

// measure rates scores against what is illicit; not ok without both classes.
type measure func(scores []float64, illicit []bool) (value float64, ok bool)

// compare compares two scores of the same rows.
func compare(by measure, scores, with []float64, illicit []bool, seed uint64) paired {
	difference := func(a, b []float64, truth []bool) (float64, bool) {
		x, ok := by(a, truth)
		y, _ := by(b, truth)
		return x - y, ok
	}
	var out paired
	out.Difference, _ = difference(scores, with, illicit)
	n := len(illicit)
	a, b, truth := make([]float64, n), make([]float64, n), make([]bool, n)
	draw := lethe.NewDraw(seed, "stack/paired")
	var drawn []float64
	for range resamples {
		for i := range truth {
			j := draw.IntN(n)
			a[i], b[i], truth[i] = scores[j], with[j], illicit[j]
		}
		if d, ok := difference(a, b, truth); ok {
			drawn = append(drawn, d)
		}
	}
	if len(drawn) > 0 {
		slices.Sort(drawn)
		at := func(share float64) float64 { return drawn[int(share*float64(len(drawn)-1)+.5)] }
		out.Low, out.High = at(.025), at(.975)
	}
	return out
}

// gains are those of an ensemble on the first one.
type gains struct {
	AUC              paired `json:"auc"`
	AveragePrecision paired `json:"average_precision"`
}

// gainsOf compares a reading with that of the first ensemble: nil unless it was asked
// for, and for a reading that is no ensemble's or the first one's.
func (r *run) gainsOf(reading int) *gains {
	if !r.cli.Paired || !slices.Contains(r.ensembles[1:], reading) {
		return nil
	}
	of, first := r.readings[reading], r.readings[r.ensembles[0]]
	return &gains{
		AUC:              compare(quality.AUC, of.scores, first.scores, of.illicit, r.cli.Seed),
		AveragePrecision: compare(quality.AveragePrecision, of.scores, first.scores, of.illicit, r.cli.Seed),
	}
}
