package timesteps

import (
	"context"
	"errors"
	"fmt"

	"lethe"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Replay applies an entry of the journal.
func (l *Lifecycle) Replay(ctx context.Context, d journal.TimestepsChanged) error {
	for _, t := range d.Closed {
		if err := unlessUnready(l.closings.closeNow(ctx, t)); err != nil {
			return fmt.Errorf("close timestep %d: %w", t, err)
		}
	}
	for _, t := range d.Settled {
		started := l.observer.now()
		if err := unlessUnready(l.store.SettleTimestep(ctx, t, l.assign(ctx))); err != nil {
			return fmt.Errorf("settle timestep %d: %w", t, err)
		}
		l.observer.changed(t, lethe.Settled, started)
	}
	for _, t := range d.Reopened {
		started := l.observer.now()
		changed, err := l.store.ReopenTimestep(ctx, t, l.assign(ctx))
		if err := unlessUnready(err); err != nil {
			return fmt.Errorf("reopen timestep %d: %w", t, err)
		}
		if changed {
			l.observer.changed(t, l.store.Info(t).State, started)
		}
	}
	if !d.Publishes() {
		return nil
	}
	return l.publisher.Adopt(d)
}

// unlessUnready returns an error, or nil if it only means that the store has less than the leader's had: compaction has
// deleted records that were replaced since.
func unlessUnready(err error) error {
	if errors.Is(err, snapshot.ErrNotReady) || errors.Is(err, snapshot.ErrUnknownTimestep) {
		return nil
	}
	return err
}
