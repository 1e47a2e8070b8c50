package forecast

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"lethe/metrics/events"
)

// Pace measures the duration of training and partitioning. It is safe for concurrent use.
type Pace struct {
	mu    sync.Mutex
	kinds map[string]speed
	cut   speed
}

// speed is a decaying mean.
type speed struct {
	seconds, weight float64
}

// memory is its decay: about the last 32 measurements count.
const memory = 1 - 1./32

func (s speed) with(seconds, weight float64) speed {
	return speed{s.seconds*memory + seconds, s.weight*memory + weight}
}

// rate is the seconds per unit of work.
func (s speed) rate() (seconds float64, known bool) {
	if s.weight == 0 {
		return 0, false
	}
	return s.seconds / s.weight, true
}

// NewPace returns a Pace without observations.
func NewPace() *Pace { return &Pace{kinds: make(map[string]speed)} }

// Listener measures the roles' events.
func (p *Pace) Listener() events.Listener {
	return events.Tee(
		events.On(func(e events.ShardTrained) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.kinds[e.Model] = p.kinds[e.Model].with(e.Duration.Seconds(), 1)
		}),
		events.On(func(e events.SnapshotPartitioned) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.cut = p.cut.with(e.Duration.Seconds(), 1)
		}),
	)
}

// Rates are recent seconds per checkpoint of each kind of model, and per partition of a timestep, as far as
// measured.
type Rates struct {
	Checkpoint map[string]float64
	Partition  float64
}

// Rates returns the measured rates.
func (p *Pace) Rates() Rates {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := Rates{Checkpoint: make(map[string]float64)}
	for model, s := range p.kinds {
		if rate, known := s.rate(); known {
			out.Checkpoint[model] = rate
		}
	}
	out.Partition, _ = p.cut.rate()
	return out
}

// Defaults, as of a network per shard and trees on 700 transactions a timestep in 20 shards on a virtual core.
const (
	defaultCheckpoint = 4 * time.Millisecond
	defaultFit        = 150 * time.Millisecond
	defaultPartition  = 50 * time.Millisecond
)

// line is time as a function of work.
type line struct{ fixed, perWork float64 }

func (l line) at(work float64) float64 { return l.fixed + l.perWork*work }

func (l line) times(factor float64) line { return line{l.fixed * factor, l.perWork * factor} }

// observation is the time some work took.
type observation struct{ work, took float64 }

const (
	// leastObserved is the number of observations needed.
	leastObserved = 3
	// ageing is the weight of an observation relative to the next.
	ageing = 0.95
	// leastTook is the shortest stage in seconds: times have milliseconds.
	leastTook = 0.001
	// trust is the weight of the expected line.
	trust = 0.5
)

// learnt returns the line fitted to observations by relative error. As these may all be of little work, the expected
// line, scaled to their median, counts as observations of no work and of the most work. Few outliers have little
// influence.
func (l line) learnt(observed []observation, most float64) line {
	if len(observed) < leastObserved {
		return l
	}
	list := make([]observation, len(observed))
	for i, o := range observed {
		list[i] = observation{o.work, max(o.took, leastTook)}
	}
	slower := l.times(ratio(list, l))
	var sums sums
	for _, work := range []float64{0, most} {
		sums.add(observation{work, max(slower.at(work), leastTook)}, trust)
	}
	weight := 1.
	for _, o := range slices.Backward(list) {
		sums.add(o, weight)
		weight *= ageing
	}
	out := sums.line()
	return out.times(ratio(list, out))
}

// ratio is the median of observed over expected time.
func ratio(list []observation, l line) float64 {
	ratios := make([]float64, len(list))
	for i, o := range list {
		ratios[i] = o.took / max(l.at(o.work), leastTook)
	}
	return median(ratios)
}

// sums are those of the normal equations for relative errors.
type sums struct{ fixedFixed, fixedWork, workWork, fixed, work float64 }

func (s *sums) add(o observation, weight float64) {
	u, v := 1/o.took, o.work/o.took
	s.fixedFixed += weight * u * u
	s.fixedWork += weight * u * v
	s.workWork += weight * v * v
	s.fixed += weight * u
	s.work += weight * v
}

// line solves them without negative parts.
func (s *sums) line() line {
	if s.workWork == 0 {
		return line{fixed: s.fixed / s.fixedFixed}
	}
	d := s.fixedFixed*s.workWork - s.fixedWork*s.fixedWork
	l := line{(s.fixed*s.workWork - s.work*s.fixedWork) / d, (s.work*s.fixedFixed - s.fixed*s.fixedWork) / d}
	switch {
	case d <= 0 || l.perWork < 0:
		return line{fixed: s.fixed / s.fixedFixed}
	case l.fixed < 0:
		return line{perWork: s.work / s.workWork}
	}
	return l
}

// median is of a list that is not empty.
func median(list []float64) float64 {
	sorted := slices.SortedFunc(slices.Values(list), cmp.Compare[float64])
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
