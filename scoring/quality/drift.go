package quality

import (
	"math"

	"lethe/internal/portable/gomath"
)

// ScoreBins is the number of equal parts of [0, 1] in which scores are counted.
const ScoreBins = 20

// ScoreCounts say how many scores lie in each of the parts; what is beyond lies in the first or the last.
type ScoreCounts [ScoreBins]int

// Add counts a score n times; a negative n takes it away again.
func (c *ScoreCounts) Add(score float64, n int) {
	c[min(ScoreBins-1, max(0, int(score*ScoreBins)))] += n
}

// AddAll counts what others have counted.
func (c *ScoreCounts) AddAll(others ScoreCounts) {
	for i, n := range others {
		c[i] += n
	}
}

// Total is how many scores were counted.
func (c *ScoreCounts) Total() (total int) {
	for _, n := range c {
		total += n
	}
	return total
}

// Drift is how far scores differ from those before them, as the population stability index (PSI): the
// sum, over the bins, of the difference of the shares times that of their logarithms. By custom up to 0.1
// is no change, and above 0.25 one that is to be looked into. It is NaN where either has no scores.
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

// smoothedShare has half an observation more in every bin: one that is empty has no logarithm.
func smoothedShare(count, of int) float64 {
	return (float64(count) + .5) / (float64(of) + ScoreBins*.5)
}
