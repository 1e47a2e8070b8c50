package erase

import (
	"context"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/journal"
	"lethe/snapshot"
	"lethe/snapshot/suppressed"
)

// SuppressAsIn has a store suppress what requests erase, or have erased, and take again what those
// have suppressed that were taken back, or are held: a process that was away has not heard of it.
func SuppressAsIn(store *snapshot.Store, entries []deletions.Entry) error {
	erased, lifted := suppressedBy(entries)
	if len(lifted) > 0 {
		if err := store.Suppressed().Lift(lifted); err != nil {
			return err
		}
	}
	return SuppressIn(store, erased)
}

// suppressedBy is what requests erase, or have erased, and what others have suppressed that were taken back, or are
// held.
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

// redactionsOf are the features that some requests erase.
func redactionsOf(entries []deletions.Entry) (out []lethe.Redaction) {
	for _, e := range entries {
		if e.Suppresses() {
			out = append(out, e.Redactions()...)
		}
	}
	return out
}

// suppression is what is taken no more; a part of the eraser.
type suppression struct {
	of        Carriers
	decisions *publish.Decisions
}

// Suppress implements coordinator.Graphs.
func (e suppression) Suppress(ctx context.Context, targets []lethe.Target) error {
	if err := lethe.CheckTargets(targets); err != nil {
		return err
	}
	var of journal.Suppressed
	of.Targets, of.Subjects, of.Redacted = suppressed.Of(e.of.Secret, targets)
	return e.suppress(ctx, of)
}

// suppress is Suppress for keyed hashes.
func (e suppression) suppress(ctx context.Context, all journal.Suppressed) error {
	var parts []journal.Suppressed
	for part := range slices.Chunk(all.Redacted, publish.MostInAnEntry) {
		parts = append(parts, journal.Suppressed{Redacted: part})
	}
	for part := range slices.Chunk(all.Subjects, publish.MostInAnEntry) {
		parts = append(parts, journal.Suppressed{Subjects: part})
	}
	for part := range slices.Chunk(all.Targets, publish.MostInAnEntry) {
		parts = append(parts, journal.Suppressed{Targets: part})
	}
	for _, part := range parts {
		err := e.decisions.Decide(ctx, part, func() error { return SuppressIn(e.of.Store, part) })
		if err != nil {
			return err
		}
	}
	return nil
}

// SuppressIn has a store take no more of what an entry names.
func SuppressIn(store *snapshot.Store, of journal.Suppressed) error {
	if err := store.Suppressed().Redact(of.Redacted); err != nil {
		return err
	}
	return store.Suppressed().AddHashes(of.Targets, of.Subjects...)
}

// Lift implements coordinator.Graphs.
func (e suppression) Lift(ctx context.Context, hashes []lethe.Digest, still ...lethe.SubjectUntil) error {
	var parts []journal.Lifted
	for part := range slices.Chunk(hashes, publish.MostInAnEntry) {
		parts = append(parts, journal.Lifted{Targets: part})
	}
	for part := range slices.Chunk(still, publish.MostInAnEntry) {
		parts = append(parts, journal.Lifted{Subjects: part})
	}
	for _, part := range parts {
		err := e.decisions.Decide(ctx, part, func() error {
			return e.of.Store.Suppressed().Lift(part.Targets, part.Subjects...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Suppressed implements coordinator.Graphs.
func (e suppression) Suppressed(hashes []lethe.Digest) (n int) {
	for _, h := range hashes {
		if e.of.Store.Suppressed().Has(h) {
			n++
		}
	}
	return n
}

// Resume is SuppressAsIn for a store that is to stay a function of the journal: what another process noted of a request
// and did not come to is decided now.
func (e suppression) Resume(ctx context.Context, entries []deletions.Entry) error {
	erased, lifted := suppressedBy(entries)
	stays := make(map[lethe.Digest]bool)
	for _, hash := range erased.Targets {
		stays[hash] = true
	}
	lifted = slices.DeleteFunc(lifted, func(hash lethe.Digest) bool {
		return stays[hash] || !e.of.Store.Suppressed().Has(hash)
	})
	if err := e.Lift(ctx, lifted); err != nil {
		return err
	}
	erased.Targets, erased.Subjects = e.of.Store.Suppressed().Lacking(erased.Targets, erased.Subjects)
	erased.Redacted = slices.DeleteFunc(erased.Redacted, func(r lethe.Redaction) bool {
		return !slices.Contains(erased.Targets, r.Target)
	})
	return e.suppress(ctx, erased)
}
