package forecast

import (
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
