package main

import (
	"sync"
	"time"

	"lethe"
	"lethe/internal/command"
	"lethe/lab/protocol"
)

// trainLine is the progress line of training. Shards that train side by side
// report to it at the same time.
type trainLine struct {
	mutex    sync.Mutex
	progress *command.Progress
	// expected is the number of optimiser steps of all shards, at most.
	expected, shards int
	steps            int
	// taken counts them by shard.
	taken map[lethe.ShardID]int
	shown time.Time
}

// lineInterval keeps drawing the line from costing time.
const lineInterval = 100 * time.Millisecond

func newTrainLine(a *command.App) *trainLine {
	return &trainLine{progress: command.NewProgress(a.Stderr), taken: make(map[lethe.ShardID]int)}
}

// expect sets how much work there is.
func (l *trainLine) expect(steps, shards int) {
	l.expected, l.shards = max(1, steps), shards
	l.progress.Show("partitioning")
}

// epoch counts one optimiser step.
func (l *trainLine) epoch(e protocol.Epoch) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.steps++
	l.taken[e.Shard]++
	now := time.Now()
	if now.Sub(l.shown) < lineInterval {
		return
	}
	l.shown = now
	done := 0
	for _, taken := range l.taken {
		if taken*l.shards >= l.expected {
			done++
		}
	}
	spent := now.Sub(l.progress.Started)
	left := time.Duration(float64(spent) / float64(l.steps) * float64(max(0, l.expected-l.steps)))
	l.progress.Show("shard %d: timestep %d, epoch %d of %d, loss %.4f; %d of %d shards done; %.0f %%, %s left",
		e.Shard, e.Timestep, e.Epoch, e.Epochs, e.Loss, done, l.shards,
		100*float64(l.steps)/float64(l.expected), left.Round(time.Second))
}

// done ends the line.
func (l *trainLine) done() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.progress.Done("%d steps of %d shards", l.steps, l.shards)
}
