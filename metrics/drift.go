package metrics

import "math"

// scoreBins is the number of equal parts of [0, 1] in which scores are counted.
const scoreBins = 20

// drift compares the scores of each timestep with those of all before it, as the population stability
// index (PSI): the sum, over the bins, of the difference of the shares times that of their logarithms. By
// custom up to 0.1 is no change, and above 0.25 one that is to be looked into.
type drift struct {
	counts [scoreBins]float64
	total  float64
}

// add returns the index of some scores, and takes them among those of before; NaN if there are none to
// compare with.
func (d *drift) add(scores []float64) float64 {
	var now [scoreBins]float64
	for _, s := range scores {
		now[min(scoreBins-1, max(0, int(s*scoreBins)))]++
	}
	psi := math.NaN()
	if d.total > 0 && len(scores) > 0 {
		psi = 0
		for i := range now {
			// Half an observation more in every bin: one that is empty has no logarithm.
			a, b := share(now[i], float64(len(scores))), share(d.counts[i], d.total)
			psi += (a - b) * math.Log(a/b)
		}
	}
	for i := range now {
		d.counts[i] += now[i]
	}
	d.total += float64(len(scores))
	return psi
}

func share(count, of float64) float64 { return (count + .5) / (of + scoreBins*.5) }
