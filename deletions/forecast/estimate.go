package forecast

import (
	"lethe"
	"lethe/deletions"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// The bases of an estimate.
const (
	// FromErasures: recent erasures, what each of their stages took, and what training took lately.
	FromErasures = "recent_erasures"
	// FromTraining: what training took lately; nothing was erased yet.
	FromTraining = "recent_training"
	// FromDefaults: nothing was measured since the process began, nor was anything erased. The
	// order of magnitude at most.
	FromDefaults = "defaults"
)

// What the stages of an erasure take where none was measured, in seconds, as on Bitcoin-OTC with two
// cores: suppression and the wait for others; per timestep what rewriting does besides partitioning;
// what each checkpoint of a network waits for besides its training, because it is stored and
// published one after another; the meta-model and the swap.
const (
	defaultBefore       = 0.12
	defaultRewriting    = 0.02
	defaultPerTimestep  = 0.012
	defaultPerStored    = 0.0022
	defaultAfterRewrite = 0.05
)

// stages are what an erasure goes through until the ensemble is swapped. The first takes as long
// whatever is erased.
type stages struct {
	before              float64
	rewriting, training line
}

// estimator turns work into seconds.
type estimator struct {
	layout  ensemble.Layout
	rates   Rates
	workers int
	// measured says that the rates were.
	measured bool
	settled  []lethe.Timestep
	// Stages of erasures of before, the newest last, those of rewriting by whether all were
	// partitioned afresh.
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

// learn takes erasures of before, the oldest first, for which the settled timesteps of now stand.
func (e *estimator) learn(past []deletions.Entry) {
	for _, entry := range past {
		seconds, whole := stagesOf(entry)
		if !whole {
			continue
		}
		afresh := entry.Scope == lethe.ScopePartition
		rewritten := observation{e.rewriting(len(entry.Progress.Timesteps), afresh), seconds[1]}
		train, _ := e.training(workOf(e.layout, e.settled, entry.Progress.Slices))
		e.before = append(e.before, seconds[0])
		e.rewritten[afresh] = append(e.rewritten[afresh], rewritten)
		e.rewrites, e.trained = append(e.rewrites, rewritten), append(e.trained, observation{train, seconds[2]})
	}
}

// stagesOf returns the seconds of each stage of an erasure that was swapped.
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

// basis says what an estimate rests on.
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

// training is the time that training takes on all workers with what it stores, and on the processor
// without. Checkpoints of one model follow one another, models are trained side by side.
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

// partitions is the processor time that partitioning some timesteps takes.
func (e *estimator) partitions(timesteps int) float64 {
	rate := e.rates.Partition
	if rate == 0 {
		rate = defaultPartition.Seconds()
	}
	return rate * float64(timesteps)
}

// rewriting is the work of rewriting some timesteps, in seconds: those that it took where the defaults
// were measured, and those of partitioning afresh, which is done side by side.
func (e *estimator) rewriting(timesteps int, afresh bool) float64 {
	work := defaultPerTimestep * float64(timesteps)
	if afresh {
		work += e.partitions(timesteps) / float64(max(1, min(e.workers, timesteps)))
	}
	return work
}

// stages returns what the stages take, by erasures of before and, as far as they tell nothing, by
// defaults.
func (e *estimator) stages(afresh bool) stages {
	s := stages{defaultBefore, line{defaultRewriting, 1}, line{defaultAfterRewrite, 1}}
	if len(e.before) >= leastObserved {
		s.before = median(e.before)
	}
	rewrites := e.rewritten[afresh]
	if len(rewrites) < leastObserved {
		rewrites = e.rewrites
	}
	all, _ := e.training(everything(e.layout, e.settled))
	s.rewriting = s.rewriting.learnt(rewrites, e.rewriting(len(e.settled), afresh))
	s.training = s.training.learnt(e.trained, all)
	return s
}

// swapped is the time until the ensemble is swapped: so many timesteps are rewritten, and it is trained
// for so long.
func (e *estimator) swapped(timesteps int, afresh bool, train float64) float64 {
	s := e.stages(afresh)
	return s.before + s.rewriting.at(e.rewriting(timesteps, afresh)) + s.training.at(train)
}
