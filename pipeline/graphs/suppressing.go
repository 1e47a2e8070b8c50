package graphs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/ledgercopy"
	"lethe/pipeline/journal"
	"lethe/snapshot"
	"lethe/snapshot/suppressed"
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

// suppression is what is taken no more; a part of the eraser.
type suppression struct {
	of      carriers
	decided *decisions
}

// Suppress implements coordinator.Graphs.
func (e suppression) Suppress(ctx context.Context, targets []lethe.Target) error {
	if err := lethe.CheckTargets(targets); err != nil {
		return err
	}
	var of journal.Suppressed
	of.Targets, of.Subjects, of.Redacted = suppressed.Of(e.of.secret, targets)
	return e.suppress(ctx, of)
}

// mostInAnEntry bounds the digests in an entry of the journal, which is one record.
const mostInAnEntry = 4096

// suppress is Suppress for keyed hashes.
func (e suppression) suppress(ctx context.Context, all journal.Suppressed) error {
	var parts []journal.Suppressed
	for part := range slices.Chunk(all.Redacted, mostInAnEntry) {
		parts = append(parts, journal.Suppressed{Redacted: part})
	}
	for part := range slices.Chunk(all.Subjects, mostInAnEntry) {
		parts = append(parts, journal.Suppressed{Subjects: part})
	}
	for part := range slices.Chunk(all.Targets, mostInAnEntry) {
		parts = append(parts, journal.Suppressed{Targets: part})
	}
	for _, part := range parts {
		err := e.decided.Decide(ctx, part, func() error { return suppress(e.of.store, part) })
		if err != nil {
			return err
		}
	}
	return nil
}

// suppress has a store take no more of what an entry names.
func suppress(store *snapshot.Store, of journal.Suppressed) error {
	if err := store.Suppressed().Redact(of.Redacted); err != nil {
		return err
	}
	return store.Suppressed().AddHashes(of.Targets, of.Subjects...)
}

// Lift implements coordinator.Graphs.
func (e suppression) Lift(ctx context.Context, hashes []lethe.Digest, still ...lethe.SubjectUntil) error {
	var parts []journal.Lifted
	for part := range slices.Chunk(hashes, mostInAnEntry) {
		parts = append(parts, journal.Lifted{Targets: part})
	}
	for part := range slices.Chunk(still, mostInAnEntry) {
		parts = append(parts, journal.Lifted{Subjects: part})
	}
	for _, part := range parts {
		err := e.decided.Decide(ctx, part, func() error {
			return e.of.store.Suppressed().Lift(part.Targets, part.Subjects...)
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
		if e.of.store.Suppressed().Has(h) {
			n++
		}
	}
	return n
}

// resume is suppressAsIn for a store that is to stay a function of the journal: what another process noted of a request
// and did not come to is decided now.
func (e suppression) resume(ctx context.Context, entries []deletions.Entry) error {
	erased, lifted := suppressedBy(entries)
	stays := make(map[lethe.Digest]bool)
	for _, hash := range erased.Targets {
		stays[hash] = true
	}
	lifted = slices.DeleteFunc(lifted, func(hash lethe.Digest) bool {
		return stays[hash] || !e.of.store.Suppressed().Has(hash)
	})
	if err := e.Lift(ctx, lifted); err != nil {
		return err
	}
	erased.Targets, erased.Subjects = e.of.store.Suppressed().Lacking(erased.Targets, erased.Subjects)
	erased.Redacted = slices.DeleteFunc(erased.Redacted, func(r lethe.Redaction) bool {
		return !slices.Contains(erased.Targets, r.Target)
	})
	return e.suppress(ctx, erased)
}

// scrubbing writes staging anew beside the loop, or within it if there is nothing to run that. The loop takes records
// meanwhile, and only changes to the new files.
type scrubbing struct {
	store *snapshot.Store
	running
	// now is what is under way, nil if nothing is.
	now *scrub
}

// scrub is staging that is written anew.
type scrub struct {
	snapshot.Scrub
	// part is what runs now, and failed why it did not do what it should.
	part   *stage
	failed error
	// switched says that the new files are in use, ended that the old ones are gone.
	switched, ended bool
}

var _ coordinator.Scrub = (*scrub)(nil)

// Ended implements coordinator.Scrub.
func (s *scrub) Ended() (bool, error) { return s.ended, nil }

// begin begins. Nothing else may be under way.
func (l *scrubbing) begin(ctx context.Context) (*scrub, error) {
	begun, err := l.store.BeginScrub()
	if err != nil {
		return nil, err
	}
	s := &scrub{Scrub: begun}
	l.now = s
	l.do(func() error { return s.Fill(ctx) })
	return s, l.goOn()
}

// do does a part of what is under way.
func (l *scrubbing) do(work func() error) {
	s, part := l.now, new(stage)
	s.part = part
	all := func() { part.do(func() { s.failed = work() }) }
	if l.beside == nil {
		all()
		return
	}
	l.run(all)
}

// goOn takes what is under way as far as it is.
func (l *scrubbing) goOn() error {
	for s := l.now; s != nil && s.part.done.Load(); s = l.now {
		switch {
		case s.failed != nil:
			return s.failed
		case s.switched:
			s.ended, l.now = true, nil
		default:
			if err := s.Switch(); err != nil {
				return err
			}
			s.switched = true
			l.do(s.Clean)
		}
	}
	return nil
}
