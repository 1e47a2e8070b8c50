package quality

import (
	"math"

	"lethe/internal/portable/gomath"
)

// ScoreBins is the number of equal bins of [0, 1] in which scores are counted.
const ScoreBins = 20

// ScoreCounts is the number of scores in each bin; scores outside of [0, 1] count in the first or the
// last.
type ScoreCounts [ScoreBins]int

// Add counts a score n times; a negative n subtracts.
func (c *ScoreCounts) Add(score float64, n int) {
	c[min(ScoreBins-1, max(0, int(score*ScoreBins)))] += n
}

// AddAll adds other counts.
func (c *ScoreCounts) AddAll(others ScoreCounts) {
	for i, n := range others {
		c[i] += n
	}
}

// Total is the number of counted scores.
func (c *ScoreCounts) Total() (total int) {
	for _, n := range c {
		total += n
	}
	return total
}

// Drift is the difference of scores from earlier ones, as the population stability index (PSI): the sum,
// over the bins, of the difference of the shares times that of their logarithms. By convention up to 0.1
// is no change, and above 0.25 should be investigated. It is NaN if either has no scores.
func (c *ScoreCounts) Drift(before ScoreCounts) float64 {
	now, then := c.Total(), before.Total()
	if now == 0 || then == 0 {
		return math.NaN()
	}
	psi := 0.
	for i := range c {
		a, b := smoothedShare(c[i], now), smoothedShare(before[i], then)
		psi += float64((a - b) * gomath.Log(a/b))
	}
	return psi
}

// smoothedShare adds half an observation to every bin, because an empty one has no logarithm.
func smoothedShare(count, of int) float64 {
	return (float64(count) + .5) / (float64(of) + ScoreBins*.5)
}
