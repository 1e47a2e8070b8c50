// Package timesteps closes, settles, reopens and publishes timesteps.
//
//	lifecycle.go    transitions that are due, one after the other
//	closings.go     closing beside the loop; closing.go, one timestep
//	sender.go       sending slices beside the loop
//	unpublished.go  publishing timesteps without a mark
//	replay.go       transitions in a standby
//	observer.go     notifying the listener
package timesteps

import (
	"context"
	"fmt"
	"iter"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/metrics/events"
	"lethe/pipeline/graphs/beside"
	"lethe/pipeline/graphs/intake"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Options configure a Lifecycle.
type Options struct {
	Publisher *publish.Publisher
	Letters   intake.Letters
	Topics    Topics
	Running   *beside.Running
	// PartitionsHold, if not nil, reports whether the topics have their original numbers of partitions: a timestep
	// closes once all partitions have passed it.
	PartitionsHold func(ctx context.Context) bool
	// Window is how long late records may wait.
	Window   time.Duration
	Now      func() time.Time
	Listener events.Listener
}

// Lifecycle closes, settles, reopens and publishes timesteps.
type Lifecycle struct {
	Options
	store       *snapshot.Store
	publisher   *publish.Publisher
	observer    *observer
	closings    *closings
	sender      *sender
	unpublished *unpublished
	// waiting is since when late records wait in this run, or zero.
	waiting time.Time
}

// New returns the lifecycle of the timesteps of a publisher's store.
func New(o Options) *Lifecycle {
	store := o.Publisher.Store
	t := &observer{
		listener: o.Listener, now: o.Now, published: make(map[lethe.Timestep]published),
		begun: make(map[lethe.Timestep]bool),
	}
	for _, info := range store.Timesteps() {
		t.begun[info.Timestep] = true
	}
	c := &closings{store: store, publisher: o.Publisher, topics: o.Topics, running: o.Running, observer: t}
	s := &sender{publisher: o.Publisher, topics: o.Topics, running: o.Running}
	return &Lifecycle{
		Options: o, store: store, publisher: o.Publisher, observer: t, closings: c, sender: s,
		unpublished: &unpublished{
			store: store, publisher: o.Publisher, letters: o.Letters, observer: t, closings: c, sender: s,
		},
	}
}

// Advance reopens, closes and settles the timesteps that are due. Changes that a crash left unpublished go first.
func (l *Lifecycle) Advance(ctx context.Context) error {
	for {
		if err := l.publishPending(ctx); err != nil {
			return err
		}
		toClose, toSettle := l.store.Ready()
		idle := len(toClose)+len(toSettle) == 0
		if len(toSettle) == 0 && l.closings.waits(toClose) {
			return nil
		}
		if !idle && l.PartitionsHold != nil && !l.PartitionsHold(ctx) {
			return nil
		}
		reopened, err := l.reopen(ctx, !idle)
		switch {
		case err != nil:
			return err
		case reopened:
			continue
		case idle:
			return nil
		}
		awaited, err := l.change(ctx, toClose, toSettle)
		if err != nil || awaited {
			return err
		}
	}
}

// publishPending notes what is sent beside the loop, and publishes the rest.
func (l *Lifecycle) publishPending(ctx context.Context) error {
	if _, err := l.closings.advance(ctx, false); err != nil {
		return err
	}
	if err := l.sender.note(ctx, false); err != nil {
		return err
	}
	return l.PublishMissing(ctx)
}

// PublishMissing publishes unpublished changes, except those of an erasure.
func (l *Lifecycle) PublishMissing(ctx context.Context) error { return l.unpublished.publish(ctx) }

// reopen adds late records to their timesteps after the window, or if something else is due, and reports whether there
// were any.
func (l *Lifecycle) reopen(ctx context.Context, due bool) (bool, error) {
	waiting := l.store.Waiting()
	if len(waiting) == 0 {
		l.waiting = time.Time{}
		return false, nil
	}
	if l.waiting.IsZero() {
		l.waiting = l.Now()
	}
	if !due && l.Now().Sub(l.waiting) < l.Window {
		return false, nil
	}
	if err := l.End(ctx); err != nil {
		return false, err
	}
	for _, t := range waiting {
		started := l.Now()
		changed, reopened := false, journal.TimestepsChanged{Reopened: []lethe.Timestep{t}}
		err := l.publisher.Decisions.Change(ctx, reopened, func() (err error) {
			changed, err = l.store.ReopenTimestep(ctx, t, l.assign(ctx))
			return err
		})
		if err != nil {
			return false, fmt.Errorf("reopen timestep %d: %w", t, err)
		}
		if changed {
			l.observer.changed(t, l.store.Info(t).State, started)
		}
		if err := l.PublishMissing(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}

// change closes and settles timesteps; awaited means that nothing more can be done before work beside the loop ends.
func (l *Lifecycle) change(ctx context.Context, toClose, toSettle []lethe.Timestep) (awaited bool, err error) {
	changed, err := l.closeAll(ctx, toClose)
	if err != nil || len(toSettle) == 0 {
		return !changed, err
	}
	settles, err := l.settle(ctx, toSettle)
	return settles && !changed, err
}

// closeAll begins or continues to close timesteps; changed reports any progress.
func (l *Lifecycle) closeAll(ctx context.Context, toClose []lethe.Timestep) (changed bool, err error) {
	if l.Running.Start == nil {
		for _, t := range toClose {
			if err = l.closings.closeNow(ctx, t); err == nil {
				err = l.PublishMissing(ctx)
			}
			if err != nil {
				return false, fmt.Errorf("close timestep %d: %w", t, err)
			}
		}
		return len(toClose) > 0, nil
	}
	changed, err = l.closings.advance(ctx, len(toClose) > backlog)
	if err != nil {
		return false, err
	}
	begun, err := l.closings.begin(ctx, toClose)
	return changed || begun, err
}

// settle settles timesteps, up to one that is being cut beside the loop.
func (l *Lifecycle) settle(ctx context.Context, list []lethe.Timestep) (awaited bool, err error) {
	for _, t := range list {
		if l.sender.now != nil || l.closings.isSending(t) {
			return true, nil // its slices follow its graph and the slices of the previous timestep
		}
		awaited, err = l.publisher.Cutter.Prepares(ctx, l.store, t)
		if err == nil && awaited {
			return true, nil
		}
		if err == nil {
			err = l.settleTimestep(ctx, t)
		}
		if err != nil {
			return false, fmt.Errorf("settle timestep %d: %w", t, err)
		}
	}
	return false, nil
}

// settleTimestep assigns a graph to shards once its labels are complete.
func (l *Lifecycle) settleTimestep(ctx context.Context, t lethe.Timestep) error {
	started := l.Now()
	settled := journal.TimestepsChanged{Settled: []lethe.Timestep{t}}
	err := l.publisher.Decisions.Change(ctx, settled, func() error {
		return l.store.SettleTimestep(ctx, t, l.assign(ctx))
	})
	if err != nil {
		return err
	}
	l.observer.changed(t, lethe.Settled, started)
	if l.Running.Start != nil { // else PublishMissing sends its slices
		if err := l.sender.begin(ctx, t); err != nil {
			return err
		}
	}
	return l.PublishMissing(ctx)
}

// assign assigns the transactions of a snapshot to shards and notifies the listener.
func (l *Lifecycle) assign(ctx context.Context) snapshot.Assign {
	return func(s *lethe.Snapshot) ([]lethe.ShardID, error) {
		assignment, report, took, err := l.publisher.Cutter.Assign(ctx, s)
		if err != nil {
			return nil, err
		}
		l.Listener(events.SnapshotPartitioned{
			Timestep: s.Timestep, Balance: report.Scores.Balance, Fairness: report.Scores.Fairness,
			EdgeCut: report.Scores.EdgeCut, Duration: took,
		})
		return assignment, nil
	}
}

// Before prepares for a batch: it finishes closings that the batch would outdate, and publishes dead letters.
func (l *Lifecycle) Before(ctx context.Context, events iter.Seq[ingest.Event]) error {
	if err := l.closings.finishFor(ctx, events); err != nil {
		return err
	}
	return l.publisher.Decisions.PublishLetters(ctx)
}

// Begun notifies the listener of timesteps that a batch began.
func (l *Lifecycle) Begun() { l.observer.begins(l.store.Timesteps()) }

// State is the published state of a timestep. The store has the next state already while this one is being sent.
func (l *Lifecycle) State(info snapshot.Info) lethe.State {
	switch {
	case l.closings.isSending(info.Timestep):
		return lethe.Open // until its graph is published
	case l.sender.isSending(info.Timestep):
		return lethe.Closed // until its slices are published
	default:
		return info.State
	}
}

// Unsent are the timesteps that are being sent.
func (l *Lifecycle) Unsent() (out []lethe.Timestep) {
	for _, c := range l.closings.now {
		if c.message != nil {
			out = append(out, c.timestep)
		}
	}
	if l.sender.now != nil {
		out = append(out, l.sender.now.timestep)
	}
	return out
}

// IsBusy reports whether a timestep is being closed or sent.
func (l *Lifecycle) IsBusy() bool { return len(l.closings.now) > 0 || l.sender.now != nil }

// Waits reports whether late records wait, or work runs beside the loop.
func (l *Lifecycle) Waits() bool {
	return len(l.store.Waiting()) > 0 || l.IsBusy() || l.publisher.Cutter.IsBusy()
}

// End completes closings and sending.
func (l *Lifecycle) End(ctx context.Context) error {
	if err := l.sender.note(ctx, true); err != nil {
		return err
	}
	for len(l.closings.now) > 0 {
		if _, err := l.closings.advance(ctx, true); err != nil {
			return err
		}
	}
	return nil
}
