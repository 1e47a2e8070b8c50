package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/metrics/events"
)

// received accepts or rejects requests that have just been read, or has them wait for a
// hold, and returns them as they are then.
func (s *states) received(ctx context.Context, list []deletions.Entry) (out []deletions.Entry, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	if err := s.out.announce(ctx, list...); err != nil {
		return nil, err
	}
	if list, err = s.cancelled.orphans(ctx, list); err != nil {
		return nil, err
	}
	kept, err := s.holds.kept()
	if err != nil {
		return nil, err
	}
	if list, err = (subjects{s}).found(list); err != nil {
		return nil, err
	}
	var narrow, fine batch
	var held waiting
	for _, e := range list {
		own, waits, err := s.holds.waits(e, kept)
		if err != nil {
			return nil, err
		}
		switch {
		case s.o.rejects(e.Scope):
			// Rows of other shards hold a mean of the erased one, and this scope
			// would leave them as they are.
			s.o.Logger.Warn("erasure rejected: with one-hop features scope shard is not exact, ask for scope stubs",
				"request_id", e.RequestID)
			narrow.members = append(narrow.members, e)
		case waits:
			held.add(e, own)
		default:
			fine.members = append(fine.members, e)
		}
	}
	if len(narrow.members) > 0 {
		if narrow, err = s.stop(ctx, narrow, deletions.Rejected, deletions.RejectedScope); err != nil {
			return nil, err
		}
	}
	if len(fine.members) > 0 {
		found := fine.members
		fine, err = s.moveEach(ctx, fine, deletions.Accepted, func(i int, e *deletions.Entry) { e.Found(&found[i]) })
		if err != nil {
			return nil, err
		}
	}
	now, err := s.holds.wait(ctx, held)
	if err != nil {
		return nil, err
	}
	return slices.Concat(narrow.members, now, fine.members), nil
}

// rejects reports whether requests of a scope are refused.
func (o *Options) rejects(scope lethe.Scope) bool { return o.OneHop && scope == lethe.ScopeShard }

// accepted suppresses the targets of requests here and asks score to do so, then waits
// until score lets nothing about them out any more. It answers with the ensemble it
// serves, which the receipt names. Requests whose targets have to be read again, after a
// crash, wait for that.
func (s *states) accepted(ctx context.Context, list []deletions.Entry) error {
	var untold, answered batch
	before := make(map[string]deletions.Ack)
	for _, e := range list {
		j := s.jobs.of(e.RequestID)
		if j == nil {
			continue
		}
		if !s.commanded[e.RequestID] {
			untold.members = append(untold.members, e)
		}
		a, ok := s.acks.of(e.RequestID, e.Attempts, scoreRole, deletions.StepSuppressed)
		if ok && s.acks.hides(e.RequestID, e.Attempts, deletions.StepSuppressed) {
			answered.members = append(answered.members, e)
			before[e.RequestID] = a
		}
	}
	if len(untold.members) > 0 {
		if err := (subjects{s}).commandSuppress(ctx, untold.members); err != nil {
			return fmt.Errorf("suppress the targets of %d requests: %w", len(untold.members), err)
		}
		for _, id := range untold.ids() {
			s.commanded[id] = true
		}
	}
	if len(answered.members) == 0 {
		return nil
	}
	for _, id := range answered.ids() {
		delete(s.commanded, id)
	}
	s.out.phaseDone(answered, events.Suppress, deletions.Received)
	_, err := s.moveEach(ctx, answered, deletions.Suppressed, func(_ int, e *deletions.Entry) {
		e.Progress.EnsembleBefore = before[e.RequestID].Ensemble
		e.Progress.Checkpoints.Before = before[e.RequestID].Models
	})
	return err
}

// subjects carries out what requests for subjects need beside others: it is told until when
// they go, and by what they are carried.
type subjects struct{ *states }

// found returns requests with the timestep until which their subjects go, decided when they are
// looked at first, and with what carries these now.
func (s subjects) found(list []deletions.Entry) ([]deletions.Entry, error) {
	out := slices.Clone(list)
	for i := range out {
		e := &out[i]
		j := s.jobs.of(e.RequestID)
		if len(e.Subjects) == 0 || j == nil {
			continue
		}
		e.Decide(max(0, s.o.Graphs.Newest()))
		carried, several, err := s.o.Graphs.Carried(e.Complete(s.o.Secret, j.request.Targets))
		if err == nil {
			err = e.Carries(s.o.Secret, carried, several)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// suppress suppresses the targets of requests in the graphs, and what carries the subjects among
// them, which the ledger knows before. It returns the requests as they are then.
func (s subjects) suppress(list []deletions.Entry) ([]deletions.Entry, error) {
	list, err := s.found(list)
	if err != nil {
		return nil, err
	}
	var targets []lethe.Target
	b := batch{members: list}
	if len(b.subjects()) > 0 {
		if b, err = s.update(b, func(i int, p *deletions.Progress) { list[i].FoundInto(p) }); err != nil {
			return nil, err
		}
	}
	for _, e := range b.members {
		own := e.Complete(s.o.Secret, s.jobs.of(e.RequestID).request.Targets)
		carried, _, err := s.o.Graphs.Carried(own)
		if err != nil {
			return nil, err
		}
		targets = append(append(targets, own...), carried...)
	}
	return b.members, s.o.Graphs.Suppress(lethe.Distinct(targets))
}

// shared are the subjects of a request that others suppress too, with the last timestep of what
// goes for those.
func (s subjects) shared(e deletions.Entry, others []deletions.Entry) (out []lethe.SubjectUntil) {
	for _, own := range e.Subjects {
		still := lethe.SubjectUntil{Target: own.Target, Until: lethe.NoTimestep}
		for _, other := range others {
			for _, subject := range other.Subjects {
				if other.Suppresses() && subject.Target == own.Target {
					still.Until = max(still.Until, subject.Until)
				}
			}
		}
		if still.Until != lethe.NoTimestep {
			out = append(out, still)
		}
	}
	return out
}

// commandSuppress asks score to suppress the targets of requests.
func (s subjects) commandSuppress(ctx context.Context, list []deletions.Entry) error {
	list, err := s.suppress(list)
	if err != nil {
		return err
	}
	s.erased.forget()
	return s.out.suppress(ctx, list...)
}

// awaitedQuietly is for how long an answer is waited for before that is said.
const awaitedQuietly = 30 * time.Second

// awaiting says whom requests wait for.
type awaiting struct {
	*states
	// said are the waits that were logged.
	said map[string]bool
	list []deletions.Awaited
}

// look finds the data directories that requests wait for, where they stand for long: its process may be stopped
// or gone, and only an operator can tell. Each wait is logged once.
func (s *awaiting) look() error {
	now := s.o.Clock.Now()
	waiting, err := s.o.Ledger.Where(func(e *deletions.Entry) bool {
		return now.Sub(e.Updated()) >= awaitedQuietly && len(s.answers(e.State)) > 0
	})
	if err != nil {
		return err
	}
	said := make(map[string]bool)
	s.list = nil
	for _, e := range waiting {
		b := batch{leader: e.RequestID, members: []deletions.Entry{e}}
		if begun(e) {
			if b, err = s.out.whole(e.Leader()); err != nil {
				return err
			}
		}
		for _, of := range s.answers(e.State) {
			missing := s.acks.missing(b.leader, b.attempts(), of.role, of.step)
			for _, instance := range missing {
				s.add(e, of.role, instance)
				this := fmt.Sprint(e.RequestID, e.Attempts, e.State, of.role, instance)
				if said[this] = true; !s.said[this] {
					s.o.Logger.Warn("an erasure waits for a data directory: start its process, or strike it off if it is gone for "+
						"good (lethe members strike)", "request_id", e.RequestID, "state", e.State, "role", of.role, "instance", instance)
				}
			}
			if len(missing) > 0 && of.step == deletions.StepPurged {
				break // score waits for them, too
			}
		}
	}
	s.said = said
	return nil
}

// add counts a request that waits for a data directory.
func (s *awaiting) add(e deletions.Entry, role, instance string) {
	is := func(a deletions.Awaited) bool { return a.Role == role && a.Instance == instance }
	at := slices.IndexFunc(s.list, is)
	if at < 0 {
		at = len(s.list)
		s.list = append(s.list, deletions.Awaited{Role: role, Instance: instance, Since: e.Updated(), State: e.State})
	}
	a := &s.list[at]
	if a.Requests++; e.Updated().Before(a.Since) {
		a.Since, a.State = e.Updated(), e.State
	}
}

// answers are those that a request in a state waits for.
func (s *awaiting) answers(state deletions.State) (out []source) {
	switch state {
	case deletions.Accepted:
		return []source{{role: scoreRole, step: deletions.StepSuppressed}, {role: viewRole, step: deletions.StepSuppressed}}
	case deletions.Retraining:
		return []source{{role: trainRole, step: deletions.StepPurged}, {role: scoreRole, step: deletions.StepSwapped}}
	case deletions.Swapped, deletions.Erased, deletions.Verifying:
		step := deletions.StepScanned
		if state == deletions.Swapped {
			step = deletions.StepErased
		}
		for _, role := range s.acks.holders() {
			out = append(out, source{role: role, step: step})
		}
	default:
	}
	return out
}
