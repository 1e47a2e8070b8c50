package settle

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
		if err := l.closings.closeNow(ctx, t); !isUnready(err) {
			return fmt.Errorf("close timestep %d: %w", t, err)
		}
	}
	for _, t := range d.Settled {
		started := l.observer.now()
		if err := l.store.SettleTimestep(ctx, t, l.assign(ctx)); !isUnready(err) {
			return fmt.Errorf("settle timestep %d: %w", t, err)
		}
		l.observer.changed(t, lethe.Settled, started)
	}
	for _, t := range d.Reopened {
		started := l.observer.now()
		changed, err := l.store.ReopenTimestep(ctx, t, l.assign(ctx))
		if !isUnready(err) {
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

// isUnready reports whether an error only means that the store has less than the leader's had: compaction has deleted
// records that were replaced since.
func isUnready(err error) bool {
	return err == nil || errors.Is(err, snapshot.ErrNotReady) || errors.Is(err, snapshot.ErrUnknownTimestep)
}
