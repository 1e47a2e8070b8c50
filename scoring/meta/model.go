package meta

import (
	"lethe"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/stack"
)

// Model is what was learnt through a timestep. It is read-only and may be used from
// several goroutines at once.
type Model struct {
	// Timestep is the newest one that it, and the models below it, learnt from.
	Timestep lethe.Timestep
	// Lineage names what it must be learnt from, see Lineage.
	Lineage lethe.Digest
	// Combination weighs the components' logits.
	Combination *stack.Combination
	// Calibration makes a probability of the combined logit.
	Calibration *calibrate.Calibration
	// Threshold is the probability from which a transaction is called illicit. Where
	// the rule chooses anew for every scored timestep it is 0.5 and not looked at.
	Threshold float64
	// Rows is how many labelled transactions it was learnt from, and Illicit how many
	// of them are illicit.
	Rows, Illicit int
}

// Probability returns the calibrated probability of illicit, in [0, 1], of one
// transaction from one logit per component. It panics if their number is another.
func (m *Model) Probability(logits []float64) float64 {
	return min(1, max(0, m.Calibration.Apply(m.Combination.Logit(logits))))
}

// Probabilities is Probability for every transaction of a graph: logits are by
// component, then by transaction.
func (m *Model) Probabilities(logits [][]float64) []float64 {
	out := make([]float64, len(logits[0]))
	row := make([]float64, len(logits))
	for node := range out {
		for k := range logits {
			row[k] = logits[k][node]
		}
		out[node] = m.Probability(row)
	}
	return out
}

// ThresholdFor returns the threshold for the transactions of one timestep, which have
// these probabilities.
func (m *Model) ThresholdFor(rule decision.Rule, probabilities []float64) float64 {
	if rule.PerTimestep() {
		return decision.Choose(rule, probabilities, nil)
	}
	return m.Threshold
}
