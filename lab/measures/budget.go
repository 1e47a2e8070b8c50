package measures

import "lethe/scoring/quality"

// Budgeted is the result of a budget of alerts per timestep.
type Budgeted struct {
	// Alerts is the number of raised alerts, Illicit the number of illicit samples in total.
	Alerts, Illicit int
	// Right is the number of illicit samples among the alerts. Samples that tie for the last
	// places count in part, so it need not be an integer.
	Right float64
}

// Precision is the share of illicit samples in the alerts.
func (b Budgeted) Precision() float64 { return share(b.Right, b.Alerts) }

// Recall is the share of the illicit samples that have an alert.
func (b Budgeted) Recall() float64 { return share(b.Right, b.Illicit) }

func share(part float64, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return part / float64(whole)
}

// AtBudget raises alerts for the samples with the highest scores of one timestep, as many as the
// budget, or all if there are no more; none for a score that is NaN. Of samples that tie for the last
// places, the expected number counts as illicit. It panics if the lengths differ.
func AtBudget(scores []float64, positive []bool, budget int) Budgeted {
	var out Budgeted
	for _, p := range positive {
		if p {
			out.Illicit++
		}
	}
	var before quality.Cut
	for _, cut := range quality.Cuts(scores, positive) {
		size, positives := cut.Taken-before.Taken, cut.Right-before.Right
		places := min(size, max(budget-out.Alerts, 0))
		out.Alerts += places
		if places > 0 {
			out.Right += float64(places*positives) / float64(size)
		}
		before = cut
	}
	return out
}
