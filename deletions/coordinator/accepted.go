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

// received accepts, rejects or holds new requests, and returns them as they are afterwards.
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
			// Rows of other shards hold a mean of the erased one, which this scope would keep.
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
		fine, err = s.move(ctx, fine, deletions.Accepted, func(i int, e *deletions.Entry) { e.Found(&found[i]) })
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

func (o *Options) rejects(scope lethe.Scope) bool { return o.OneHop && scope == lethe.ScopeShard }

// accepted suppresses the targets here and commands score to, then waits for score's acknowledgement, which has the
// ensemble served at that time for the receipt. After a crash, requests wait until their targets are read again.
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
	_, err := s.move(ctx, answered, deletions.Suppressed, func(_ int, e *deletions.Entry) {
		e.Progress.EnsembleBefore = before[e.RequestID].Ensemble
		e.Progress.Checkpoints.Before = before[e.RequestID].Models
	})
	return err
}

// subjects handles what is special about requests for subjects: until when, and carried by what.
type subjects struct{ *states }

// found returns requests with the last timestep of their subjects, decided once, and with what carries these now.
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

// suppress suppresses the targets in the graphs, and what carries their subjects, which the ledger stores first.
func (s subjects) suppress(ctx context.Context, list []deletions.Entry) ([]deletions.Entry, error) {
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
	return b.members, s.o.Graphs.Suppress(ctx, lethe.Distinct(targets))
}

// commandSuppress commands score to suppress targets.
func (s subjects) commandSuppress(ctx context.Context, list []deletions.Entry) error {
	list, err := s.suppress(ctx, list)
	if err != nil {
		return err
	}
	s.erased.forget()
	return s.out.suppress(ctx, list...)
}

// awaitedQuietly is how long an acknowledgement may be missing before that is logged.
const awaitedQuietly = 30 * time.Second

// awaiting finds the data directories and people that requests wait for.
type awaiting struct {
	*states
	// logged are the waits already logged.
	logged map[string]bool
	// waits are the waits at the last look.
	waits deletions.Waits
}

// look counts what open requests wait for, and logs once each data directory that one waits for too long: only an
// operator can tell whether it is gone.
func (s *awaiting) look() error {
	open, err := s.o.Ledger.Open()
	if err != nil {
		return err
	}
	s.waits = deletions.Waits{}
	logged, looked := make(map[string]bool), make(map[string]bool)
	for _, e := range open {
		s.count(e)
		leader := e.RequestID
		if begun(e) {
			leader = e.Leader()
		}
		if looked[leader] || len(s.answers(e.State)) == 0 {
			continue
		}
		looked[leader] = true
		if err := s.lookAt(e, logged); err != nil {
			return err
		}
	}
	s.logged = logged
	return nil
}

func (s *awaiting) count(e deletions.Entry) {
	status := e.Status()
	switch {
	case status.AwaitsSignature():
		s.waits.Unsigned++
	case e.State == deletions.Held:
		s.waits.Held++
	case e.State == deletions.Failed || e.Attempts > 0:
		s.waits.Failed++
	}
}

// lookAt finds the data directories that a request or its batch waits for.
func (s *awaiting) lookAt(e deletions.Entry, logged map[string]bool) error {
	b := batch{leader: e.RequestID, members: []deletions.Entry{e}}
	if begun(e) {
		var err error
		if b, err = s.out.whole(e.Leader()); err != nil {
			return err
		}
	}
	long := s.o.Clock.Now().Sub(e.Updated()) >= awaitedQuietly
	for _, of := range s.answers(e.State) {
		missing := s.acks.missing(b.leader, b.attempts(), of.role, of.step)
		for _, instance := range missing {
			s.absent(deletions.AbsentDirectory{Role: of.role, Instance: instance, Since: e.Updated()})
			this := fmt.Sprint(e.RequestID, e.Attempts, e.State, of.role, instance)
			if logged[this] = long; long && !s.logged[this] {
				s.o.Logger.Warn("an erasure waits for a data directory: start its process, or strike it off if it is gone for "+
					"good (lethe members strike)", "request_id", e.RequestID, "state", e.State, "role", of.role, "instance", instance)
			}
		}
		if len(missing) > 0 && of.step == deletions.StepPurged {
			break // score waits for them, too
		}
	}
	return nil
}

func (s *awaiting) absent(d deletions.AbsentDirectory) {
	same := func(o deletions.AbsentDirectory) bool { return o.Role == d.Role && o.Instance == d.Instance }
	if at := slices.IndexFunc(s.waits.Absent, same); at >= 0 {
		if known := &s.waits.Absent[at]; d.Since.Before(known.Since) {
			known.Since = d.Since
		}
		return
	}
	s.waits.Absent = append(s.waits.Absent, d)
}

// answers are the acknowledgements that a state waits for.
func (s *awaiting) answers(state deletions.State) (out []source) {
	switch state {
	case deletions.Accepted:
		return []source{{role: scoreRole, step: deletions.StepSuppressed}, {role: viewRole, step: deletions.StepSuppressed}}
	case deletions.Retraining:
		return []source{{role: trainRole, step: deletions.StepPurged}, {role: scoreRole, step: deletions.StepSwapped}}
	case deletions.Swapped, deletions.Erased:
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
