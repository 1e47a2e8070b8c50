package quality

import (
	"maps"
	"slices"

	"lethe"
)

// Tally collects scores with their labels per timestep, for measuring a stream
// test-then-train: a timestep is scored by models that have not learnt from it
// and counted once its labels are in. The zero value is ready. It must not be
// used from two goroutines at once.
type Tally struct {
	steps map[lethe.Timestep]*tallyStep
}

type tallyStep struct {
	probabilities []float64
	labels        []lethe.Label
}

// Add counts one scored transaction. An Unknown label counts for nothing.
func (t *Tally) Add(timestep lethe.Timestep, probability float64, label lethe.Label) {
	if label == lethe.Unknown {
		return
	}
	if t.steps == nil {
		t.steps = make(map[lethe.Timestep]*tallyStep)
	}
	step := t.steps[timestep]
	if step == nil {
		step = &tallyStep{}
		t.steps[timestep] = step
	}
	step.probabilities = append(step.probabilities, probability)
	step.labels = append(step.labels, label)
}

// Timesteps returns the timesteps that have labelled scores, ascending.
func (t *Tally) Timesteps() []lethe.Timestep {
	return slices.Sorted(maps.Keys(t.steps))
}

// Summarise measures all scores of timesteps from first to last, both included,
// as one set. It does not depend on the order in which they were added.
func (t *Tally) Summarise(first, last lethe.Timestep, threshold float64) Summary {
	var all tallyStep
	for _, timestep := range t.Timesteps() {
		if timestep >= first && timestep <= last {
			step := t.steps[timestep]
			all.probabilities = append(all.probabilities, step.probabilities...)
			all.labels = append(all.labels, step.labels...)
		}
	}
	return Summarise(all.probabilities, all.labels, threshold)
}

// AtBudget adds up AtBudget of every timestep from first to last, both included: a
// budget of alerts in each. Samples without a label take no place of it.
func (t *Tally) AtBudget(first, last lethe.Timestep, budget int) Budgeted {
	var all Budgeted
	for _, timestep := range t.Timesteps() {
		if timestep < first || timestep > last {
			continue
		}
		step := t.steps[timestep]
		positive := make([]bool, len(step.labels))
		for i, label := range step.labels {
			positive[i] = label == lethe.Illicit
		}
		one := AtBudget(step.probabilities, positive, budget)
		all.Alerts += one.Alerts
		all.Illicit += one.Illicit
		all.Right += one.Right
	}
	return all
}
