package graphs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/snapshot"
)

// suppressCopied has a store suppress what the ledger's copy says is erased, or being erased for good: its store may
// have been lost, and the journal says so only where the records were taken.
func suppressCopied(ctx context.Context, o Options, store *snapshot.Store) error {
	kept, err := ledgercopy.Read(ctx, o.Bus, o.Secret)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	var entries []deletions.Entry
	for _, id := range slices.Sorted(maps.Keys(kept.Entries)) {
		if e := kept.Entries[id]; e.Suppresses() && !e.State.Cancellable() {
			entries = append(entries, e)
		}
	}
	if err := suppressAsIn(store, entries); err != nil {
		return err
	}
	return store.Marks().Put(begunMark(), []byte{1})
}

// suppressAsIn has a store suppress what requests erase, or have erased, and take again what those
// have suppressed that were taken back, or are held: a process that was away has not heard of it.
func suppressAsIn(store *snapshot.Store, entries []deletions.Entry) error {
	var erased, lifted []lethe.Digest
	var subjects []lethe.SubjectUntil
	for _, e := range entries {
		if e.Suppresses() {
			erased, subjects = append(erased, e.Suppressed()...), append(subjects, e.Subjects...)
		} else {
			lifted = append(lifted, e.Suppressed()...)
		}
	}
	if len(lifted) > 0 {
		if err := store.Suppressed().Lift(lifted); err != nil {
			return err
		}
	}
	if err := store.Suppressed().AddHashes(erased, subjects...); err != nil {
		return err
	}
	return store.Suppressed().Redact(redactionsOf(entries))
}
