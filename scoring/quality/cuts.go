package quality

import "math"

// Cut is a threshold, and its effect on the samples that it was computed from.
type Cut struct {
	// Threshold is the lowest score that is taken.
	Threshold float64
	// Taken is the number of samples at or above it, Right the number of positive ones among them.
	Taken, Right int
}

// Precision is the share of positive samples in those taken.
func (c Cut) Precision() float64 { return ratio(c.Right, c.Taken) }

// Cuts returns all distinct ways to split samples by a threshold, except the one that takes none:
// one per distinct score, from the highest down. Each threshold is midway between the lowest score
// taken and the next lower one; the last is the lowest score itself. Samples whose score is NaN are
// never taken. It panics if the lengths differ.
func Cuts(scores []float64, positive []bool) []Cut {
	groups := rank(scores, positive)
	if n := len(groups); n > 0 && math.IsNaN(groups[n-1].score) {
		groups = groups[:n-1]
	}
	cuts := make([]Cut, len(groups))
	var taken, right int
	for i, g := range groups {
		taken += g.positives + g.negatives
		right += g.positives
		cuts[i] = Cut{Threshold: g.score, Taken: taken, Right: right}
		if i+1 < len(groups) {
			cuts[i].Threshold = midway(groups[i+1].score, g.score)
		}
	}
	return cuts
}

// midway returns the middle of two scores, or the higher one if they are adjacent floats.
func midway(lower, higher float64) float64 {
	if middle := float64(lower/2) + float64(higher/2); middle > lower && middle <= higher {
		return middle
	}
	return higher
}

// BestF1 returns the highest F1 that any threshold reaches on the samples, in hindsight, and the
// highest such threshold, see Cuts. It is undefined, and ok is false, if no threshold takes a
// positive sample. It panics if the lengths differ.
func BestF1(scores []float64, positive []bool) (f1, threshold float64, ok bool) {
	positives := 0
	for _, p := range positive {
		if p {
			positives++
		}
	}
	for _, c := range Cuts(scores, positive) {
		if got := ratio(2*c.Right, positives+c.Taken); got > f1 {
			f1, threshold = got, c.Threshold
		}
	}
	return f1, threshold, f1 > 0
}
