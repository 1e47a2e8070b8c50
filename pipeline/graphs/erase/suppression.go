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

// SuppressAsIn makes a store suppress the targets of requests, and lifts those of cancelled and held requests: a
// process that was stopped has missed the commands.
func SuppressAsIn(store *snapshot.Store, entries []deletions.Entry) error {
	erased, lifted := suppressedBy(entries)
	if len(lifted) > 0 {
		if err := store.Suppressed().Lift(lifted); err != nil {
			return err
		}
	}
	return SuppressIn(store, erased)
}

// suppressedBy returns the targets of requests, and those of cancelled and held ones.
func suppressedBy(entries []deletions.Entry) (erased journal.Suppressed, lifted []lethe.Digest) {
	for _, e := range entries {
		if !e.Suppresses() {
			lifted = append(lifted, e.Suppressed()...)
			continue
		}
		erased.Targets, erased.Subjects = append(erased.Targets, e.Suppressed()...), append(erased.Subjects, e.Subjects...)
		erased.Redacted = append(erased.Redacted, e.Redactions()...)
	}
	return erased, lifted
}

// suppression is the part of the eraser that suppresses and lifts.
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

// SuppressIn makes a store suppress the targets of an entry.
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

// Resume is SuppressAsIn through the journal: it decides the suppressions that the previous leader stored in the
// ledger and did not decide.
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
