package timesteps

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/pipeline/graphs/intake"
	"lethe/pipeline/graphs/publish"
	"lethe/snapshot"
)

// unpublished publishes changes without a mark: dead letters, deletions, and graphs and slices of timesteps that were
// closed, settled or reopened. The coordinator publishes changes of an erasure.
type unpublished struct {
	store     *snapshot.Store
	publisher *publish.Publisher
	letters   intake.Letters
	observer  *observer
	closings  *closings
	sender    *sender
}

// publish publishes all of it.
func (u *unpublished) publish(ctx context.Context) error {
	if err := u.letters.SendWaiting(ctx); err != nil {
		return err
	}
	gone := u.store.Gone()
	for _, t := range slices.Sorted(maps.Keys(gone)) {
		if u.store.Info(t).Nodes > 0 {
			continue // it will be closed or emptied
		}
		revision, _, err := publish.Gone.Of(u.store, t)
		if err == nil && revision < gone[t] {
			err = u.publisher.Delete(ctx, t, gone[t])
		}
		if err != nil {
			return fmt.Errorf("delete timestep %d: %w", t, err)
		}
	}
	for _, info := range u.store.Timesteps() {
		now := published{info.State, info.Reopened}
		if info.State == lethe.Open || u.observer.published[info.Timestep] == now || u.isSending(info.Timestep) {
			continue
		}
		part := publish.Part{Info: info, Shards: u.publisher.Cutter.All()}
		part.Revision = info.Reopened
		if err := u.publisher.Missing(ctx, []publish.Part{part}); err != nil {
			return fmt.Errorf("publish timestep %d: %w", info.Timestep, err)
		}
		u.observer.published[info.Timestep] = now
	}
	return nil
}

// isSending reports whether a timestep is being sent: it has no mark yet, and must not be sent again.
func (u *unpublished) isSending(t lethe.Timestep) bool {
	return u.closings.isSending(t) || u.sender.isSending(t)
}
