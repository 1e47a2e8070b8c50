package main

import (
	"fmt"
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
	// began is when this run took its first step, and before counts the steps up to it: the
	// time that partitioning took, and what was resumed, say nothing of the time left.
	began  time.Time
	before int
	// kept counts the shards that were resumed.
	kept int
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
	if l.began.IsZero() {
		l.began, l.before = now, l.steps
		l.resumedFrom()
	}
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
	l.progress.Show("shard %d: timestep %d, epoch %d of %d, loss %.4f; %d of %d shards done; %.0f %%%s",
		e.Shard, e.Timestep, e.Epoch, e.Epochs, e.Loss, done, l.shards,
		100*float64(l.steps)/float64(l.expected), l.left(now))
}

// left says how long the rest takes, once a step was timed.
func (l *trainLine) left(now time.Time) string {
	timed := l.steps - l.before
	if timed == 0 {
		return ""
	}
	each := float64(now.Sub(l.began)) / float64(timed)
	return fmt.Sprintf(", %s left", time.Duration(each*float64(max(0, l.expected-l.steps))).Round(time.Second))
}

// resumed counts the steps of a shard that was kept.
func (l *trainLine) resumed(shard lethe.ShardID, steps int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.steps += steps
	l.taken[shard] += steps
	l.before += steps
	l.kept++
}

// resumedFrom says how many shards were kept, if any.
func (l *trainLine) resumedFrom() {
	if l.kept > 0 {
		l.progress.Reached("%d of %d shards were trained before", l.kept, l.shards)
	}
}

// done ends the line.
func (l *trainLine) done() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.began.IsZero() {
		l.resumedFrom()
	}
	l.progress.Done("%d steps of %d shards", l.steps, l.shards)
}
