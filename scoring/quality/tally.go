package quality

import (
	"maps"
	"slices"

	"lethe"
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
	// called holds whether each was classified as illicit.
	called []bool
}

// AddServed is Add for a transaction with the class that was served.
func (t *Tally) AddServed(timestep lethe.Timestep, probability float64, called bool, label lethe.Label) {
	t.Add(timestep, probability, label)
	if label != lethe.Unknown {
		step := t.steps[timestep]
		step.called[len(step.called)-1] = called
	}
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
	step.called = append(step.called, false)
}

// Timesteps returns the timesteps that have labelled scores, ascending.
func (t *Tally) Timesteps() []lethe.Timestep {
	return slices.Sorted(maps.Keys(t.steps))
}

// Summarise measures all scores of timesteps from first to last, inclusive, as one set. It does not
// depend on the order in which they were added.
func (t *Tally) Summarise(first, last lethe.Timestep, threshold float64) Summary {
	all := t.between(first, last)
	return Summarise(all.probabilities, all.labels, threshold)
}

// SummariseServed is Summarise by the classes of AddServed.
func (t *Tally) SummariseServed(first, last lethe.Timestep) Summary {
	all := t.between(first, last)
	return summarise(all.probabilities, all.labels, func(i int) bool { return all.called[i] })
}

// between merges the timesteps from first to last.
func (t *Tally) between(first, last lethe.Timestep) (all tallyStep) {
	for _, timestep := range t.Timesteps() {
		if timestep >= first && timestep <= last {
			step := t.steps[timestep]
			all.probabilities = append(all.probabilities, step.probabilities...)
			all.labels = append(all.labels, step.labels...)
			all.called = append(all.called, step.called...)
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
