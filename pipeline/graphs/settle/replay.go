package settle

import (
	"context"
	"errors"
	"fmt"

	"lethe"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Replay does what an entry of the journal says becomes of timesteps.
func (l *Lifecycle) Replay(ctx context.Context, d journal.TimestepsChanged) error {
	for _, t := range d.Closed {
		if err := l.closings.atOnce(ctx, t); !isUnready(err) {
			return fmt.Errorf("close timestep %d: %w", t, err)
		}
	}
	for _, t := range d.Settled {
		started := l.told.now()
		if err := l.store.SettleTimestep(ctx, t, l.assign(ctx)); !isUnready(err) {
			return fmt.Errorf("settle timestep %d: %w", t, err)
		}
		l.told.changed(t, lethe.Settled, started)
	}
	for _, t := range d.Reopened {
		started := l.told.now()
		changed, err := l.store.ReopenTimestep(ctx, t, l.assign(ctx))
		if !isUnready(err) {
			return fmt.Errorf("reopen timestep %d: %w", t, err)
		}
		if changed {
			l.told.changed(t, l.store.Info(t).State, started)
		}
	}
	if !d.Publishes() {
		return nil
	}
	return l.publisher.Adopt(d)
}

// isUnready reports whether an error says no more than that a store has less than that of whoever decided: records that
// others replaced since have gone from their topics.
func isUnready(err error) bool {
	return err == nil || errors.Is(err, snapshot.ErrNotReady) || errors.Is(err, snapshot.ErrUnknownTimestep)
}
