package forecast

import (
	"lethe"
	"lethe/deletions"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// The bases of an estimate.
const (
	// FromErasures: the stages of recent erasures, and recent training.
	FromErasures = "recent_erasures"
	// FromTraining: recent training.
	FromTraining = "recent_training"
	// FromDefaults: nothing was measured. At most the order of magnitude.
	FromDefaults = "defaults"
)

// Seconds of the stages where none was measured, as on Bitcoin-OTC with two cores: suppression and waiting for
// others; rewriting besides partitioning, per timestep; storing and publishing a network's checkpoint; meta-model
// and swap.
const (
	defaultBefore       = 0.12
	defaultRewriting    = 0.02
	defaultPerTimestep  = 0.012
	defaultPerStored    = 0.0022
	defaultAfterRewrite = 0.05
)

// stages are those up to the swap. The first does not depend on the targets.
type stages struct {
	before              float64
	rewriting, training line
}

type estimator struct {
	layout  ensemble.Layout
	rates   Rates
	workers int
	// measured means that the rates are measured.
	measured bool
	settled  []lethe.Timestep
	// Stages of past erasures, the newest last; rewritten is by whether everything was partitioned again.
	before            []float64
	rewritten         map[bool][]observation
	rewrites, trained []observation
}

func newEstimator(layout ensemble.Layout, rates Rates, workers int, settled []lethe.Timestep) *estimator {
	e := &estimator{
		layout: layout, rates: rates, workers: max(1, workers), measured: true, settled: settled,
		rewritten: make(map[bool][]observation),
	}
	for _, c := range layout.Components {
		_, known := rates.Checkpoint[c.Config.Model]
		e.measured = e.measured && known
	}
	return e
}

// learn adds past erasures, oldest first, assuming the present settled timesteps.
func (e *estimator) learn(past []deletions.Entry) {
	for _, entry := range past {
		seconds, whole := stagesOf(entry)
		if !whole {
			continue
		}
		repartitioned := entry.Scope == lethe.ScopePartition
		rewritten := observation{e.rewriting(len(entry.Progress.Timesteps), repartitioned), seconds[1]}
		train, _ := e.training(workOf(e.layout, e.settled, entry.Progress.Slices))
		e.before = append(e.before, seconds[0])
		e.rewritten[repartitioned] = append(e.rewritten[repartitioned], rewritten)
		e.rewrites, e.trained = append(e.rewrites, rewritten), append(e.trained, observation{train, seconds[2]})
	}
}

// stagesOf returns the seconds of each stage of a swapped erasure.
func stagesOf(entry deletions.Entry) (seconds [3]float64, whole bool) {
	since := entry.Received()
	for i, state := range []deletions.State{deletions.Rewriting, deletions.Retraining, deletions.Swapped} {
		whole = false
		for _, change := range entry.History {
			if change.State == state {
				seconds[i], since, whole = max(0, change.At.Sub(since).Seconds()), change.At, true
				break
			}
		}
		if !whole {
			break
		}
	}
	return seconds, whole
}

func (e *estimator) basis() string {
	switch {
	case len(e.before) >= leastObserved:
		return FromErasures
	case e.measured:
		return FromTraining
	default:
		return FromDefaults
	}
}

// perCheckpoint is the seconds per checkpoint of a component.
func (e *estimator) perCheckpoint(c trainer.Config) float64 {
	if rate, known := e.rates.Checkpoint[c.Model]; known {
		return rate
	}
	if c.Schedule == trainer.Window {
		return defaultFit.Seconds()
	}
	return defaultCheckpoint.Seconds()
}

// training is the time of training and storing on all workers, and processor time without storing. A model's
// checkpoints are sequential, models parallel.
func (e *estimator) training(w Work) (wall, processor float64) {
	longest, stored := 0., 0.
	for i, m := range w {
		if m.Steps == 0 {
			continue
		}
		seconds := e.perCheckpoint(e.layout.Components[i].Config) * float64(m.Checkpoints)
		processor += seconds
		longest = max(longest, seconds*float64(m.longest)/float64(m.Steps))
		if e.layout.Components[i].Config.Schedule != trainer.Window {
			stored += defaultPerStored * float64(m.Checkpoints)
		}
	}
	return max(longest, processor/float64(e.workers)) + stored, processor
}

// partitions is the processor time of partitioning.
func (e *estimator) partitions(timesteps int) float64 {
	rate := e.rates.Partition
	if rate == 0 {
		rate = defaultPartition.Seconds()
	}
	return rate * float64(timesteps)
}

// rewriting is the work of rewriting timesteps, in seconds of the defaults, with parallel partitioning if
// repartitioned.
func (e *estimator) rewriting(timesteps int, repartitioned bool) float64 {
	work := defaultPerTimestep * float64(timesteps)
	if repartitioned {
		work += e.partitions(timesteps) / float64(max(1, min(e.workers, timesteps)))
	}
	return work
}

// stages returns the stages by past erasures, or the defaults.
func (e *estimator) stages(repartitioned bool) stages {
	s := stages{defaultBefore, line{defaultRewriting, 1}, line{defaultAfterRewrite, 1}}
	if len(e.before) >= leastObserved {
		s.before = median(e.before)
	}
	rewrites := e.rewritten[repartitioned]
	if len(rewrites) < leastObserved {
		rewrites = e.rewrites
	}
	all, _ := e.training(everything(e.layout, e.settled))
	s.rewriting = s.rewriting.learnt(rewrites, e.rewriting(len(e.settled), repartitioned))
	s.training = s.training.learnt(e.trained, all)
	return s
}

// swapped is the time until the swap.
func (e *estimator) swapped(timesteps int, repartitioned bool, train float64) float64 {
	s := e.stages(repartitioned)
	return s.before + s.rewriting.at(e.rewriting(timesteps, repartitioned)) + s.training.at(train)
}
