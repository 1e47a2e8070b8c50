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
	return events.Listener{
		ShardTrained: func(e events.ShardTrained) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.kinds[e.Model] = p.kinds[e.Model].with(e.Duration.Seconds(), 1)
		},
		SnapshotPartitioned: func(e events.SnapshotPartitioned) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.cut = p.cut.with(e.Duration.Seconds(), 1)
		},
	}
}

// Rates are recent seconds per checkpoint of each kind of model, and per partition of a timestep, as far as
// measured.
type Rates struct {
	Checkpoint map[string]float64
	Partition  float64
}

// Rates returns what was measured.
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
	// leastTook is the shortest stage in seconds: times have milliseconds.
	leastTook = 0.001
)

// learnt returns the line scaled to the median of what observations took. Few outliers move it little.
func (l line) learnt(observed []observation) line {
	if len(observed) < leastObserved {
		return l
	}
	var ratios []float64
	for _, o := range observed {
		ratios = append(ratios, max(o.took, leastTook)/max(l.at(o.work), leastTook))
	}
	return l.times(median(ratios))
}

// median is of a list that is not empty.
func median(list []float64) float64 {
	sorted := slices.SortedFunc(slices.Values(list), cmp.Compare[float64])
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
