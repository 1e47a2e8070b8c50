package forecast

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// The bases of an estimate.
const (
	// FromErasures: recent erasures and what training took lately.
	FromErasures = "recent_erasures"
	// FromTraining: what training took lately; nothing was erased yet.
	FromTraining = "recent_training"
	// FromDefaults: nothing was measured since the process began, nor was anything erased. The
	// order of magnitude at most.
	FromDefaults = "defaults"
)

// fixedSeconds is what an erasure takes besides training where none was measured: suppression, the
// wait for others, the rewriting of a store, messages, the meta-model and the swap.
const fixedSeconds = 0.35

// leastPast is how many erasures it takes to believe what they tell.
const leastPast = 3

// estimator turns work into seconds.
type estimator struct {
	layout  ensemble.Layout
	rates   Rates
	workers int
	// measured says that the rates were.
	measured bool
	past     []sample
}

// sample is an erasure of before: what it was expected to train for, and what it took.
type sample struct{ train, took float64 }

func newEstimator(layout ensemble.Layout, rates Rates, workers int) *estimator {
	e := &estimator{layout: layout, rates: rates, workers: max(1, workers), measured: true}
	for _, c := range layout.Components {
		_, known := rates.Checkpoint[c.Config.Model]
		e.measured = e.measured && known
	}
	return e
}

// learn takes erasures of before, for which the settled timesteps of now stand.
func (e *estimator) learn(past []deletions.Entry, settled []lethe.Timestep) {
	for _, entry := range past {
		elapsed := entry.Elapsed()
		if elapsed.Swapped == nil {
			continue
		}
		wall, _ := e.training(workOf(e.layout, settled, entry.Progress.Slices))
		if entry.Scope == lethe.ScopePartition {
			wall += e.partitions(len(entry.Progress.Timesteps))
		}
		e.past = append(e.past, sample{wall, float64(*elapsed.Swapped) / 1000})
	}
}

// basis says what an estimate rests on.
func (e *estimator) basis() string {
	switch {
	case len(e.past) >= leastPast:
		return FromErasures
	case e.measured:
		return FromTraining
	default:
		return FromDefaults
	}
}

// perCheckpoint is the seconds of one checkpoint of a component.
func (e *estimator) perCheckpoint(c trainer.Config) float64 {
	if rate, known := e.rates.Checkpoint[c.Model]; known {
		return rate
	}
	if c.Schedule == trainer.Window {
		return defaultFit.Seconds()
	}
	return defaultCheckpoint.Seconds()
}

// training is the time that training takes on all workers, and on the processor. Checkpoints
// of one model follow one another, models are trained side by side.
func (e *estimator) training(w Work) (wall, processor float64) {
	longest := 0.
	for i, m := range w {
		if m.Steps == 0 {
			continue
		}
		seconds := e.perCheckpoint(e.layout.Components[i].Config) * float64(m.Checkpoints)
		processor += seconds
		longest = max(longest, seconds*float64(m.longest)/float64(m.Steps))
	}
	return max(longest, processor/float64(e.workers)), processor
}

// partitions is the time that partitioning some timesteps takes.
func (e *estimator) partitions(timesteps int) float64 {
	rate := e.rates.Partition
	if rate == 0 {
		rate = defaultPartition.Seconds()
	}
	return rate * float64(timesteps)
}

// swapped is the time until the ensemble is swapped, for so much training. Past erasures tell
// how the times of training come out when all else goes on beside them, and what comes on top:
// a line through the origin's side of them by the medians of the lighter and the heavier half.
func (e *estimator) swapped(train float64) float64 {
	if len(e.past) < leastPast {
		return fixedSeconds + train
	}
	past := slices.Clone(e.past)
	slices.SortFunc(past, func(a, b sample) int {
		switch {
		case a.train < b.train:
			return -1
		case a.train > b.train:
			return 1
		}
		return 0
	})
	half := len(past) / 2
	light, heavy := middle(past[:len(past)-half]), middle(past[half:])
	slope := 1.
	if gap := heavy.train - light.train; gap > 0.1*heavy.train && gap > 0 {
		slope = min(max((heavy.took-light.took)/gap, 0.25), 4)
	}
	var rest []float64
	for _, s := range past {
		rest = append(rest, s.took-slope*s.train)
	}
	return max(median(rest)+slope*train, 0.05)
}

// middle is the sample of the medians.
func middle(list []sample) sample {
	var train, took []float64
	for _, s := range list {
		train, took = append(train, s.train), append(took, s.took)
	}
	return sample{median(train), median(took)}
}

// median of a list that is not empty.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
