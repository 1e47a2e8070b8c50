package graphs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/pipeline/journal"
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
	erased, lifted := suppressedBy(entries)
	if len(lifted) > 0 {
		if err := store.Suppressed().Lift(lifted); err != nil {
			return err
		}
	}
	return suppress(store, erased)
}

// suppressedBy is what requests erase, or have erased, and what others have suppressed that were taken back, or are held.
func suppressedBy(entries []deletions.Entry) (erased journal.Suppressed, lifted []lethe.Digest) {
	for _, e := range entries {
		if !e.Suppresses() {
			lifted = append(lifted, e.Suppressed()...)
			continue
		}
		erased.Targets, erased.Subjects = append(erased.Targets, e.Suppressed()...), append(erased.Subjects, e.Subjects...)
	}
	erased.Redacted = redactionsOf(entries)
	return erased, lifted
}

// resume is suppressAsIn for a store that is to stay a function of the journal: what another process noted of a request
// and did not come to is decided now.
func (e *eraser) resume(ctx context.Context, entries []deletions.Entry) error {
	erased, lifted := suppressedBy(entries)
	stays := make(map[lethe.Digest]bool)
	for _, hash := range erased.Targets {
		stays[hash] = true
	}
	lifted = slices.DeleteFunc(lifted, func(hash lethe.Digest) bool {
		return stays[hash] || !e.store.Suppressed().Has(hash)
	})
	if err := e.Lift(ctx, lifted); err != nil {
		return err
	}
	erased.Targets, erased.Subjects = e.store.Suppressed().Lacking(erased.Targets, erased.Subjects)
	erased.Redacted = slices.DeleteFunc(erased.Redacted, func(r lethe.Redaction) bool {
		return !slices.Contains(erased.Targets, r.Target)
	})
	return e.suppress(ctx, erased)
}
