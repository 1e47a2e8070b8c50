// Package settle closes, settles and reopens timesteps, and has them published.
//
//	lifecycle.go    what is due, one thing after the other
//	closings.go     timesteps that close beside the loop; closing.go, one of them
//	sender.go       slices that are sent beside the loop
//	unpublished.go  what is still to be published
//	replay.go       what the journal says becomes of timesteps
//	told.go         what the listener was told
package settle

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

// Options are what a Lifecycle works with.
type Options struct {
	Publisher *publish.Publisher
	Letters   intake.Letters
	Topics    Topics
	Running   *beside.Running
	// PartitionsHold, if not nil, reports whether the topics still have the partitions they
	// had: a timestep is over once all partitions have passed it.
	PartitionsHold func(ctx context.Context) bool
	// Window is how long late records may wait for others.
	Window   time.Duration
	Now      func() time.Time
	Listener events.Listener
}

// Lifecycle closes, settles, reopens and publishes timesteps.
type Lifecycle struct {
	Options
	store       *snapshot.Store
	publisher   *publish.Publisher
	told        *told
	closings    *closings
	sender      *sender
	unpublished *unpublished
	// waiting is since when late records wait, as far as this run knows, or zero.
	waiting time.Time
}

// New returns the lifecycle of the timesteps of a publisher's store.
func New(o Options) *Lifecycle {
	store := o.Publisher.Store
	t := &told{
		listener: o.Listener, now: o.Now, published: make(map[lethe.Timestep]published),
		begun: make(map[lethe.Timestep]bool),
	}
	for _, info := range store.Timesteps() {
		t.begun[info.Timestep] = true
	}
	c := &closings{store: store, publisher: o.Publisher, topics: o.Topics, running: o.Running, told: t}
	s := &sender{publisher: o.Publisher, topics: o.Topics, running: o.Running}
	return &Lifecycle{
		Options: o, store: store, publisher: o.Publisher, told: t, closings: c, sender: s,
		unpublished: &unpublished{
			store: store, publisher: o.Publisher, letters: o.Letters, told: t, closings: c, sender: s,
		},
	}
}

// Advance does what is due: to reopen what late records wait for, to close and to settle. What a crash left
// unpublished goes first.
func (l *Lifecycle) Advance(ctx context.Context) error {
	for {
		if err := l.catchUp(ctx); err != nil {
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

// catchUp publishes what is not.
func (l *Lifecycle) catchUp(ctx context.Context) error {
	if _, err := l.closings.goOn(ctx, false); err != nil {
		return err
	}
	if err := l.sender.end(ctx, false); err != nil {
		return err
	}
	return l.PublishMissing(ctx)
}

// PublishMissing publishes what is not published and does not belong to an erasure.
func (l *Lifecycle) PublishMissing(ctx context.Context) error { return l.unpublished.publish(ctx) }

// reopen makes late records part of their timesteps once they have waited for the
// window, or if something else is due, and reports whether there were any.
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
			l.told.changed(t, l.store.Info(t).State, started)
		}
		if err := l.PublishMissing(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}

// change closes timesteps and settles others; awaited says that nothing is left to do before what is worked out
// beside the loop is there.
func (l *Lifecycle) change(ctx context.Context, toClose, toSettle []lethe.Timestep) (awaited bool, err error) {
	changed, err := l.closeAll(ctx, toClose)
	if err != nil || len(toSettle) == 0 {
		return !changed, err
	}
	settles, err := l.settle(ctx, toSettle)
	return settles && !changed, err
}

// closeAll closes timesteps, or goes on with that; changed says that something happened.
func (l *Lifecycle) closeAll(ctx context.Context, toClose []lethe.Timestep) (changed bool, err error) {
	if l.Running.Start == nil {
		for _, t := range toClose {
			if err = l.closings.atOnce(ctx, t); err == nil {
				err = l.PublishMissing(ctx)
			}
			if err != nil {
				return false, fmt.Errorf("close timestep %d: %w", t, err)
			}
		}
		return len(toClose) > 0, nil
	}
	changed, err = l.closings.goOn(ctx, len(toClose) > backlog)
	if err != nil {
		return false, err
	}
	begun, err := l.closings.begin(ctx, toClose)
	return changed || begun, err
}

// settle settles timesteps, up to one that is being worked out beside the loop.
func (l *Lifecycle) settle(ctx context.Context, list []lethe.Timestep) (awaited bool, err error) {
	for _, t := range list {
		if l.sender.now != nil || l.closings.sends(t) {
			return true, nil // what is published of it follows its graph, and the one before it
		}
		awaited, err = l.publisher.Cutter.Awaits(ctx, l.store, t)
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

// settleTimestep cuts a graph into shards once its labels are in.
func (l *Lifecycle) settleTimestep(ctx context.Context, t lethe.Timestep) error {
	started := l.Now()
	settled := journal.TimestepsChanged{Settled: []lethe.Timestep{t}}
	err := l.publisher.Decisions.Change(ctx, settled, func() error {
		return l.store.SettleTimestep(ctx, t, l.assign(ctx))
	})
	if err != nil {
		return err
	}
	l.told.changed(t, lethe.Settled, started)
	if l.Running.Start != nil { // else PublishMissing sends its slices
		if err := l.sender.begin(ctx, t); err != nil {
			return err
		}
	}
	return l.PublishMissing(ctx)
}

// assign deals the transactions of a snapshot to shards, and tells the listener.
func (l *Lifecycle) assign(ctx context.Context) snapshot.Assign {
	return func(s *lethe.Snapshot) ([]lethe.ShardID, error) {
		assignment, report, took, err := l.publisher.Cutter.Deal(ctx, s)
		if err != nil {
			return nil, err
		}
		l.Listener.SnapshotPartitioned(events.SnapshotPartitioned{
			Timestep: s.Timestep, Balance: report.Scores.Balance, Fairness: report.Scores.Fairness,
			EdgeCut: report.Scores.EdgeCut, Duration: took,
		})
		return assignment, nil
	}
}

// Before finishes what would outdate a batch that is taken.
func (l *Lifecycle) Before(ctx context.Context, events iter.Seq[ingest.Event]) error {
	if err := l.closings.before(ctx, events); err != nil {
		return err
	}
	return l.publisher.Decisions.Settle(ctx)
}

// Begun tells the listener of the timesteps that a batch began.
func (l *Lifecycle) Begun() { l.told.begins(l.store.Timesteps()) }

// State is the state of a timestep as others know it.
func (l *Lifecycle) State(info snapshot.Info) lethe.State {
	switch {
	case l.closings.sends(info.Timestep):
		return lethe.Open // until others have its graph
	case l.sender.sends(info.Timestep):
		return lethe.Closed // until others have its slices
	default:
		return info.State
	}
}

// Unsent are the timesteps of which something is being sent.
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

// IsBusy reports whether a timestep closes, or something of one is sent.
func (l *Lifecycle) IsBusy() bool { return len(l.closings.now) > 0 || l.sender.now != nil }

// Waits reports whether late records wait for others, or for what is worked out beside the loop.
func (l *Lifecycle) Waits() bool {
	return len(l.store.Waiting()) > 0 || l.IsBusy() || l.publisher.Cutter.IsBusy()
}

// End ends what closes and what is sent.
func (l *Lifecycle) End(ctx context.Context) error {
	if err := l.sender.end(ctx, true); err != nil {
		return err
	}
	for len(l.closings.now) > 0 {
		if _, err := l.closings.goOn(ctx, true); err != nil {
			return err
		}
	}
	return nil
}
