package measures

import (
	"maps"
	"slices"

	"lethe"
	"lethe/scoring/quality"
)

// Tally collects scores with their labels per timestep, for evaluating a stream test-then-train: a
// timestep is scored by models that have not learned from it and counted once its labels have
// arrived. The zero value is ready. It is not safe for concurrent use.
type Tally struct {
	steps map[lethe.Timestep]*tallyStep
}

type tallyStep struct {
	probabilities []float64
	labels        []lethe.Label
}

// Add counts one scored transaction. An Unknown label is ignored.
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

// Summarise measures all scores of timesteps from first to last, inclusive, as one set. It does not
// depend on the order in which they were added.
func (t *Tally) Summarise(first, last lethe.Timestep, threshold float64) quality.Summary {
	all := t.between(first, last)
	return quality.Summarise(all.probabilities, all.labels, threshold)
}

// between merges the timesteps from first to last.
func (t *Tally) between(first, last lethe.Timestep) (all tallyStep) {
	for _, timestep := range t.Timesteps() {
		if timestep >= first && timestep <= last {
			step := t.steps[timestep]
			all.probabilities = append(all.probabilities, step.probabilities...)
			all.labels = append(all.labels, step.labels...)
		}
	}
	return all
}

// AtBudget sums AtBudget of every timestep from first to last, inclusive, each with its own budget.
// Samples without a label do not use the budget.
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
