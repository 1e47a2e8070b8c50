package graphs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe"
	"lethe/metrics/events"
	"lethe/partition"
	"lethe/pipeline/graphs/intake"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// lifecycle closes, settles, reopens and publishes timesteps.
type lifecycle struct {
	store     *snapshot.Store
	publisher *publisher
	letters   intake.Letters
	partition partition.Config
	// partitionsHold, if not nil, reports whether the topics still have the partitions they
	// had: a timestep is over once all partitions have passed it.
	partitionsHold func(ctx context.Context) bool
	// window is how long late records may wait for others.
	window time.Duration
	// ahead, if not nil, works out beside the loop what settling takes.
	ahead    *ahead
	closings closings
	// sending, if not nil, are slices that are sent beside the loop.
	sending *sending
	// waiting is since when some wait, as far as this run knows, or zero.
	waiting time.Time
	// now measures how long things take.
	now      func() time.Time
	listener events.Listener
	// published notes what was published in this run; the durable marks are in the
	// store.
	published map[lethe.Timestep]published
	// begun are the timesteps that the listener has been told of.
	begun map[lethe.Timestep]bool
}

// published is a state of a timestep, and the revision that it was reopened with last.
type published struct {
	state    lethe.State
	reopened lethe.Revision
}

// noteBegun tells the listener of the timesteps that a batch began.
func (l *lifecycle) noteBegun() {
	for _, info := range l.store.Timesteps() {
		if info.State == lethe.Open && !l.begun[info.Timestep] {
			l.begun[info.Timestep] = true
			l.listener.SnapshotChanged(events.SnapshotChanged{Timestep: info.Timestep, State: lethe.Open})
		}
	}
}

// advance does what is due: to reopen what late records wait for, to close and to settle. What a crash left
// unpublished goes first.
func (l *lifecycle) advance(ctx context.Context) error {
	for {
		if err := l.catchUp(ctx); err != nil {
			return err
		}
		toClose, toSettle := l.store.Ready()
		idle := len(toClose)+len(toSettle) == 0
		if len(toSettle) == 0 && l.closings.waits(toClose) {
			return nil
		}
		if !idle && l.partitionsHold != nil && !l.partitionsHold(ctx) {
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
func (l *lifecycle) catchUp(ctx context.Context) error {
	_, err := l.closings.goOn(ctx, false)
	if err == nil {
		err = l.endSending(ctx, false)
	}
	if err == nil {
		err = l.publishMissing(ctx)
	}
	return err
}

// settle settles timesteps, up to one that is being worked out beside the loop.
func (l *lifecycle) settle(ctx context.Context, list []lethe.Timestep) (awaited bool, err error) {
	for _, t := range list {
		if l.sending != nil || l.closings.sends(t) {
			return true, nil // what is published of it follows its graph, and the one before it
		}
		if l.ahead != nil {
			awaited, err = l.ahead.awaits(ctx, l.store, t)
		}
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

// reopen makes late records part of their timesteps once they have waited for the
// window, or if something else is due, and reports whether there were any.
func (l *lifecycle) reopen(ctx context.Context, due bool) (bool, error) {
	waiting := l.store.Waiting()
	if len(waiting) == 0 {
		l.waiting = time.Time{}
		return false, nil
	}
	if l.waiting.IsZero() {
		l.waiting = l.now()
	}
	if !due && l.now().Sub(l.waiting) < l.window {
		return false, nil
	}
	if err := l.end(ctx); err != nil {
		return false, err
	}
	assign := func(g *lethe.Snapshot) ([]lethe.ShardID, error) { return l.assign(ctx, g) }
	for _, t := range waiting {
		started := l.now()
		changed, reopened := false, journal.TimestepsChanged{Reopened: []lethe.Timestep{t}}
		err := l.publisher.decided.change(ctx, reopened, func() (err error) {
			changed, err = l.store.ReopenTimestep(ctx, t, assign)
			return err
		})
		if err != nil {
			return false, fmt.Errorf("reopen timestep %d: %w", t, err)
		}
		if changed {
			l.noteReopened(t, started)
		}
		if err := l.publishMissing(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}

// waits reports whether late records wait for others, or for what is worked out beside the loop.
func (l *lifecycle) waits() bool {
	return len(l.store.Waiting()) > 0 || l.busy() || l.ahead != nil && l.ahead.isBusy()
}

// noteReopened tells the listener of a timestep that was reopened.
func (l *lifecycle) noteReopened(t lethe.Timestep, started time.Time) {
	for _, info := range l.store.Timesteps() {
		if info.Timestep == t {
			l.noteChanged(t, info.State, started)
		}
	}
}

// publishMissing publishes what has no mark: letters, what is gone, and graphs and
// slices of timesteps that were closed, settled or reopened. What an erasure
// changed, and nothing else did, is for the coordinator to have published.
func (l *lifecycle) publishMissing(ctx context.Context) error {
	if err := l.letters.SendWaiting(ctx); err != nil {
		return err
	}
	gone, infos := l.store.Gone(), infosOf(l.store)
	for _, t := range slices.Sorted(maps.Keys(gone)) {
		if infos[t].Nodes > 0 {
			continue // it closes yet, or is emptied
		}
		revision, _, err := l.publisher.published(goneMark, t)
		if err == nil && revision < gone[t] {
			err = l.publisher.gone(ctx, t, gone[t])
		}
		if err != nil {
			return fmt.Errorf("delete timestep %d: %w", t, err)
		}
	}
	for _, info := range l.store.Timesteps() {
		now := published{info.State, info.Reopened}
		if info.State == lethe.Open || l.published[info.Timestep] == now || l.sends(info.Timestep) {
			continue
		}
		if err := l.publishTimestep(ctx, info); err != nil {
			return fmt.Errorf("publish timestep %d: %w", info.Timestep, err)
		}
		l.published[info.Timestep] = now
	}
	return nil
}

func (l *lifecycle) publishTimestep(ctx context.Context, info snapshot.Info) error {
	t := info.Timestep
	revision, _, err := l.publisher.published(graphMark, t)
	if err == nil && revision < info.Reopened {
		err = l.publisher.graph(ctx, t)
	}
	if err != nil || info.State != lethe.Settled {
		return err
	}
	revision, _, err = l.publisher.published(manifestMark, t)
	if err != nil || revision >= info.Reopened {
		return err
	}
	return l.publisher.allSlices(ctx, t)
}

// noteChanged tells the listener of a state that took until now to reach.
func (l *lifecycle) noteChanged(t lethe.Timestep, state lethe.State, started time.Time) {
	l.listener.SnapshotChanged(events.SnapshotChanged{Timestep: t, State: state, Duration: l.now().Sub(started)})
}

// notePublished notes that the graph of a timestep that has closed was sent: its mark need not be read.
func (l *lifecycle) notePublished(t lethe.Timestep, r lethe.Revision) {
	l.published[t] = published{lethe.Closed, r}
}

// assign partitions a snapshot.
func (l *lifecycle) assign(ctx context.Context, s *lethe.Snapshot) ([]lethe.ShardID, error) {
	started := l.now()
	w := l.ahead.of(s)
	if w == nil {
		assignment, report, err := partitioned(ctx, s, l.partition)
		if err != nil {
			return nil, err
		}
		w = &worked{assignment: assignment, report: report, took: l.now().Sub(started)}
	}
	assignment, report := w.assignment, w.report
	l.listener.SnapshotPartitioned(events.SnapshotPartitioned{
		Timestep: s.Timestep, Balance: report.Scores.Balance, Fairness: report.Scores.Fairness,
		EdgeCut: report.Scores.EdgeCut, Duration: w.took,
	})
	return assignment, nil
}
