package graphs

import (
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/metrics/events"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/snapshot"
)

// lifecycle closes, settles and publishes timesteps.
type lifecycle struct {
	store     Store
	publisher *publisher
	letters   *letters
	partition partition.Config
	// now measures how long things take.
	now      func() time.Time
	listener events.Listener
	// published notes the states that were published in this run; the durable
	// marks are in the store.
	published map[lethe.Timestep]lethe.State
	// begun are the timesteps that the listener has been told of.
	begun map[lethe.Timestep]bool
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

// advance closes and settles what is ready. What a crash left unpublished goes
// first: a graph that is settled before it is published holds its labels.
func (l *lifecycle) advance(ctx context.Context) error {
	for {
		if err := l.publishMissing(ctx); err != nil {
			return err
		}
		toClose, toSettle := l.store.Ready()
		if len(toClose)+len(toSettle) == 0 {
			return nil
		}
		for _, t := range toClose {
			if err := l.closeTimestep(ctx, t); err != nil {
				return fmt.Errorf("close timestep %d: %w", t, err)
			}
		}
		for _, t := range toSettle {
			if err := l.settleTimestep(ctx, t); err != nil {
				return fmt.Errorf("settle timestep %d: %w", t, err)
			}
		}
	}
}

// publishMissing publishes graphs and slices of timesteps that are closed or
// settled and have no mark.
func (l *lifecycle) publishMissing(ctx context.Context) error {
	for _, info := range l.store.Timesteps() {
		if info.State == lethe.Open || l.published[info.Timestep] == info.State {
			continue
		}
		if err := l.publishTimestep(ctx, info); err != nil {
			return fmt.Errorf("publish timestep %d: %w", info.Timestep, err)
		}
		l.published[info.Timestep] = info.State
	}
	return nil
}

func (l *lifecycle) publishTimestep(ctx context.Context, info snapshot.Info) error {
	t := info.Timestep
	_, done, err := l.store.Marks().Get(mark(graphMark, t))
	if err != nil {
		return err
	}
	if !done {
		if err := l.settleRefusals(ctx, t); err != nil {
			return err
		}
		if err := l.publisher.graph(t); err != nil {
			return err
		}
	}
	if info.State != lethe.Settled {
		return nil
	}
	if _, done, err = l.store.Marks().Get(mark(manifestMark, t)); err != nil || done {
		return err
	}
	if err := l.settleRefusals(ctx, t); err != nil {
		return err
	}
	return l.publisher.allSlices(t)
}

// closeTimestep completes a graph and publishes it to be scored.
func (l *lifecycle) closeTimestep(ctx context.Context, t lethe.Timestep) error {
	started := l.now()
	if err := l.store.CloseTimestep(ctx, t); err != nil {
		return err
	}
	l.noteChanged(t, lethe.Closed, started)
	return l.publishMissing(ctx)
}

// settleTimestep cuts a graph into shards once its labels are in.
func (l *lifecycle) settleTimestep(ctx context.Context, t lethe.Timestep) error {
	started := l.now()
	assign := func(g *lethe.Snapshot) ([]lethe.ShardID, error) { return l.assign(ctx, g) }
	if err := l.store.SettleTimestep(ctx, t, assign); err != nil {
		return err
	}
	l.noteChanged(t, lethe.Settled, started)
	return l.publishMissing(ctx)
}

// noteChanged tells the listener of a state that took until now to reach.
func (l *lifecycle) noteChanged(t lethe.Timestep, state lethe.State, started time.Time) {
	l.listener.SnapshotChanged(events.SnapshotChanged{Timestep: t, State: state, Duration: l.now().Sub(started)})
}

// assign partitions a snapshot.
func (l *lifecycle) assign(ctx context.Context, s *lethe.Snapshot) ([]lethe.ShardID, error) {
	started := l.now()
	g, err := graph.FromSnapshot(s)
	if err != nil {
		return nil, err
	}
	assignment, report, err := partition.Run(ctx, g, l.partition)
	if err != nil {
		return nil, err
	}
	l.listener.SnapshotPartitioned(events.SnapshotPartitioned{
		Timestep: s.Timestep, Balance: report.Scores.Balance, Fairness: report.Scores.Fairness,
		EdgeCut: report.Scores.EdgeCut, Duration: l.now().Sub(started),
	})
	return assignment, nil
}

// settleRefusals writes the records that were refused when a timestep closed or
// settled to the dead letters, and only then forgets them.
func (l *lifecycle) settleRefusals(ctx context.Context, t lethe.Timestep) error {
	refused, err := l.store.Refusals(t)
	if err != nil || len(refused) == 0 {
		return err
	}
	out := make([]ingest.Outgoing, 0, len(refused))
	for _, f := range refused {
		refusal := &ingest.Refusal{Reason: ingest.Reason(f.Reason), Detail: f.Detail}
		out = append(out, l.letters.letter(recordOf(f.Origin), refusal))
	}
	if err := l.letters.write(ctx, out); err != nil {
		return err
	}
	return l.store.ConfirmRefusals(t)
}
