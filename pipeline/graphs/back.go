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
	"lethe/pipeline/wire"
)

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
		if err := s.store.Marks().Lift(alone, still...); err != nil {
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
