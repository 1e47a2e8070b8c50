package meta

import (
	"lethe"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/stack"
)

// Model is a meta-model that was learned through a timestep. It is read-only and safe for
// concurrent use.
type Model struct {
	// Timestep is the newest one that it, and the models below it, learned from.
	Timestep lethe.Timestep
	// Lineage identifies its inputs, see Lineage.
	Lineage lethe.Digest
	// Combination weighs the components' logits.
	Combination *stack.Combination
	// Calibration converts the combined logit to a probability.
	Calibration *calibrate.Calibration
	// Threshold is the probability from which a transaction is classified as illicit. If the rule
	// chooses one for every scored timestep, it is unused.
	Threshold float64
	// Rows is the number of labelled transactions it was learned from, and Illicit the number of
	// illicit ones among them.
	Rows, Illicit int
}

// Probability returns the calibrated probability of illicit, in [0, 1], of one transaction from one
// logit per component. It panics if the number of logits differs.
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

// ThresholdFor returns the threshold for the transactions of one timestep with these probabilities.
func (m *Model) ThresholdFor(rule decision.Rule, probabilities []float64) float64 {
	if rule.PerTimestep() {
		return decision.Choose(rule, probabilities, nil)
	}
	return m.Threshold
}
