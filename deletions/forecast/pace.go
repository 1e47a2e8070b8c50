package forecast

import (
	"sync"
	"time"

	"lethe/metrics/events"
)

// Pace measures how long training and partitioning take in this process. It may be used from
// any goroutine.
type Pace struct {
	mu    sync.Mutex
	kinds map[string]speed
	cut   speed
}

// speed is a mean that forgets what is long past.
type speed struct {
	seconds, weight float64
}

// memory is which share of what was measured before stays with each new measurement: about the
// last 32 count.
const memory = 1 - 1./32

func (s speed) with(seconds, weight float64) speed {
	return speed{s.seconds*memory + seconds, s.weight*memory + weight}
}

// rate is the seconds for a unit of work.
func (s speed) rate() (seconds float64, known bool) {
	if s.weight == 0 {
		return 0, false
	}
	return s.seconds / s.weight, true
}

// NewPace returns one that has measured nothing.
func NewPace() *Pace { return &Pace{kinds: make(map[string]speed)} }

// Listener measures what the roles tell.
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

// Rates are the seconds that one checkpoint of each kind of model, and one partition of a
// timestep, took lately; of what has not been measured they are missing, or 0.
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

// Defaults where nothing was measured, as of a network per shard and trees on 700 transactions a
// timestep in 20 shards on one core of a virtual machine.
const (
	defaultCheckpoint = 4 * time.Millisecond
	defaultFit        = 150 * time.Millisecond
	defaultPartition  = 50 * time.Millisecond
)
