package graphs

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// suppressCopied has a store suppress what the ledger's copy says is erased, or being erased for good.
func suppressCopied(ctx context.Context, o Options, store *snapshot.Store) error {
	kept, err := ledgercopy.Read(ctx, o.Bus, o.Secret)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	var entries []deletions.Entry
	for _, id := range slices.Sorted(maps.Keys(kept.Entries)) {
		e := kept.Entries[id]
		if e.Suppresses() && e.State.Cancellable() {
			continue // its command says up to where the leader had taken everything
		}
		entries = append(entries, e)
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

// command follows a command of an erasure.
func (s *standby) command(c *wire.Command) error {
	if err := c.Shares(s.o.Secret); err != nil {
		return err
	}
	if c.Phase != wire.PhaseSuppress {
		s.later = slices.DeleteFunc(s.later, func(l *wire.Command) bool { return l.RequestID == c.RequestID })
	}
	if c.Phase == wire.PhaseLift {
		delete(s.erasures, c.RequestID)
		return s.store.Suppressed().Lift(c.Suppressed, c.Subjects...)
	}
	if s.erasures[c.RequestID] == nil {
		s.erasures[c.RequestID] = &followed{rewritten: -1, erased: -1, scanned: -1}
	}
	s.erasures[c.RequestID].command = c
	if c.Phase == wire.PhaseSuppress {
		s.later = append(s.later, c)
		return s.suppressReached()
	}
	return s.suppress(c)
}

// suppressBefore suppresses what the leader did before it took a batch, though not all has been taken here that it had
// taken by then: so much waited that partitions did not halt for each other.
func (s *standby) suppressBefore(batch bus.Batch) error {
	return s.suppressLater(func(c *wire.Command) bool {
		taken, said := c.Taken[batch.Source.String()]
		return said && batch.Next > taken
	})
}

// suppressReached suppresses what the leader did when it had taken what was taken here.
func (s *standby) suppressReached() error {
	if len(s.later) == 0 {
		return nil
	}
	read := sourcesRead(s.store)
	return s.suppressLater(func(c *wire.Command) bool { return c.IsReached(read) })
}

// suppressLater carries out those of the commands that suppress later that are due.
func (s *standby) suppressLater(due func(c *wire.Command) bool) error {
	var rest []*wire.Command
	for _, c := range s.later {
		if !due(c) {
			rest = append(rest, c)
		} else if err := s.suppress(c); err != nil {
			return err
		}
	}
	s.later = rest
	return nil
}

// suppress takes nothing more of what a command names.
func (s *standby) suppress(c *wire.Command) error {
	if err := s.store.Suppressed().AddHashes(c.Suppressed, c.Subjects...); err != nil {
		return err
	}
	return s.store.Suppressed().Redact(c.Redacted)
}

// hearLedger takes again what requests suppressed that were taken back, or wait for a hold, once the copy of the ledger
// says so: the command that says it, and its deletion, may be gone from the topic before this process comes to them.
func (s *standby) hearLedger(ctx context.Context, records []ingest.Record) error {
	back := func(rec ingest.Record) bool {
		says := func(state deletions.State) bool { return bytes.Contains(rec.Value, []byte(`"`+state+`"`)) }
		return ledgercopy.IsCopy(rec.Key) && (says(deletions.Cancelled) || says(deletions.Held))
	}
	if !slices.ContainsFunc(records, back) {
		return nil
	}
	kept, err := ledgercopy.Read(ctx, s.o.Bus, s.o.Secret)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	var list []deletions.Entry
	for _, id := range slices.Sorted(maps.Keys(kept.Entries)) {
		if e := kept.Entries[id]; s.wasTakenBack(e) {
			list = append(list, e)
			delete(s.erasures, id)
			s.later = slices.DeleteFunc(s.later, func(l *wire.Command) bool { return l.RequestID == id })
		}
	}
	others := s.suppressedBy(kept)
	for _, e := range list {
		alone := slices.DeleteFunc(e.Suppressed(), func(t lethe.Digest) bool { return others.targets[t] })
		var still []lethe.SubjectUntil
		for _, subject := range e.Subjects {
			if until, shared := others.subjects[subject.Target]; shared {
				still = append(still, lethe.SubjectUntil{Target: subject.Target, Until: until})
			}
		}
		if err := s.store.Suppressed().Lift(alone, still...); err != nil {
			return fmt.Errorf("request %s, taken back: %w", e.RequestID, err)
		}
	}
	return nil
}

// wasTakenBack reports whether what a request suppressed is taken again, or was, since its command was heard: then it
// has suppressed anew since, and that command is still to be heard.
func (s *standby) wasTakenBack(e deletions.Entry) bool {
	heard := s.erasures[e.RequestID]
	return e.State == deletions.Cancelled || e.State == deletions.Held ||
		heard != nil && heard.command.Attempt < e.Attempts && e.State.Cancellable()
}

// suppression is what some requests suppress, and up to which timestep what carries subjects.
type suppression struct {
	targets  map[lethe.Digest]bool
	subjects map[lethe.Digest]lethe.Timestep
}

// suppressedBy is what requests suppress whose commands were heard, and those of a copy of the ledger that cannot be
// taken back any more. What the command of another one names that is still to be heard was taken where the leader is,
// too.
func (s *standby) suppressedBy(kept ledgercopy.Copy) suppression {
	out := suppression{make(map[lethe.Digest]bool), make(map[lethe.Digest]lethe.Timestep)}
	add := func(targets []lethe.Digest, subjects []lethe.SubjectUntil) {
		for _, t := range targets {
			out.targets[t] = true
		}
		for _, subject := range subjects {
			before, known := out.subjects[subject.Target]
			if !known || before < subject.Until {
				out.subjects[subject.Target] = subject.Until
			}
		}
	}
	for _, e := range s.erasures {
		add(e.command.Suppressed, e.command.Subjects)
	}
	for _, e := range kept.Entries {
		if e.Suppresses() && !e.State.Cancellable() {
			add(e.Suppressed(), e.Subjects)
		}
	}
	return out
}
