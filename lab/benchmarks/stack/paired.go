package main

import (
	"slices"

	"lethe"
	"lethe/scoring/quality"
)

// resamples is how many bootstrap samples an interval rests on.
const resamples = 500

// paired is how much better a score is than another one on the same rows, with intervals that hold
// 95 % of the differences on a sample drawn again with replacement (Efron and Tibshirani, An
// Introduction to the Bootstrap, 1993).
type paired struct {
	Difference float64 `json:"difference"`
	// Low and High are the ends where rows are drawn: the chance of which transactions there were.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// TimestepsLow and TimestepsHigh are those where whole timesteps are drawn: rows of one
	// timestep err together.
	TimestepsLow  float64 `json:"timesteps_low"`
	TimestepsHigh float64 `json:"timesteps_high"`
}

// measure rates scores against what is illicit; not ok without both classes.
type measure func(scores []float64, illicit []bool) (value float64, ok bool)

// comparison is two scores of the same rows, in the order of their timesteps.
type comparison struct {
	by           measure
	scores, with []float64
	illicit      []bool
	timesteps    []lethe.Timestep
}

// compare compares the two scores.
func (c comparison) compare(seed uint64) paired {
	var out paired
	rows := make([]int, len(c.illicit))
	for i := range rows {
		rows[i] = i
	}
	out.Difference, _ = c.difference(rows)
	draw := lethe.NewDraw(seed, "stack/paired")
	out.Low, out.High = c.interval(func() []int {
		for i := range rows {
			rows[i] = draw.IntN(len(rows))
		}
		return rows
	})
	starts := c.starts()
	draw = lethe.NewDraw(seed, "stack/paired/timesteps")
	out.TimestepsLow, out.TimestepsHigh = c.interval(func() []int {
		rows = rows[:0]
		for range starts[1:] {
			at := draw.IntN(len(starts) - 1)
			for i := starts[at]; i < starts[at+1]; i++ {
				rows = append(rows, i)
			}
		}
		return rows
	})
	return out
}

// starts returns where each timestep's rows begin, and the number of rows.
func (c comparison) starts() (starts []int) {
	for i, t := range c.timesteps {
		if i == 0 || t != c.timesteps[i-1] {
			starts = append(starts, i)
		}
	}
	return append(starts, len(c.timesteps))
}

// difference is how much better the score is on some of the rows.
func (c comparison) difference(rows []int) (float64, bool) {
	a, b, truth := make([]float64, len(rows)), make([]float64, len(rows)), make([]bool, len(rows))
	for i, j := range rows {
		a[i], b[i], truth[i] = c.scores[j], c.with[j], c.illicit[j]
	}
	x, ok := c.by(a, truth)
	y, _ := c.by(b, truth)
	return x - y, ok
}

// interval holds 95 % of the differences on drawn rows.
func (c comparison) interval(draw func() []int) (low, high float64) {
	var drawn []float64
	for range resamples {
		if d, ok := c.difference(draw()); ok {
			drawn = append(drawn, d)
		}
	}
	if len(drawn) == 0 {
		return 0, 0
	}
	slices.Sort(drawn)
	at := func(share float64) float64 { return drawn[int(share*float64(len(drawn)-1)+.5)] }
	return at(.025), at(.975)
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
	c := comparison{quality.AUC, of.scores, first.scores, of.illicit, of.timesteps}
	out := &gains{AUC: c.compare(r.cli.Seed)}
	c.by = quality.AveragePrecision
	out.AveragePrecision = c.compare(r.cli.Seed)
	return out
}
