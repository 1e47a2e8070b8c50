package coordinator

import (
	"context"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
)

// subjects handles requests for subjects: their last timestep, and their carriers.
type subjects struct{ *core }

// found returns requests with the last timestep of their subjects, decided once, and with the present carriers of
// these.
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

// suppress suppresses the targets in the graphs, and the carriers of their subjects, which the ledger stores first,
// and commands score to suppress them.
func (s subjects) suppress(ctx context.Context, list []deletions.Entry) error {
	list, err := s.found(list)
	if err != nil {
		return err
	}
	var targets []lethe.Target
	b := batch.Batch{Members: list}
	if len(b.Subjects()) > 0 {
		if b, err = s.update(b, func(i int, p *deletions.Progress) { list[i].FoundInto(p) }); err != nil {
			return err
		}
	}
	for _, e := range b.Members {
		own := e.Complete(s.o.Secret, s.jobs.of(e.RequestID).request.Targets)
		carried, _, err := s.o.Graphs.Carried(own)
		if err != nil {
			return err
		}
		targets = append(append(targets, own...), carried...)
	}
	if err := s.o.Graphs.Suppress(ctx, lethe.Distinct(targets)); err != nil {
		return err
	}
	s.records.Changed()
	return s.out.suppress(ctx, b.Members...)
}

// keptOf returns the targets of a request that holds protect, with the targets that belong to a held subject. known is
// false until a new process has read the request.
func (s subjects) keptOf(e deletions.Entry, k deletions.Kept) (_ map[lethe.Digest]bool, known bool, err error) {
	if len(k.Subjects) == 0 {
		return k.Targets, true, nil
	}
	j := s.jobs.of(e.RequestID)
	if j == nil {
		return k.Targets, false, nil
	}
	out := maps.Clone(k.Targets)
	for _, own := range e.Complete(s.o.Secret, j.targets()) {
		carried, _, err := s.o.Graphs.Carried([]lethe.Target{own})
		if err != nil {
			return nil, false, err
		}
		for _, t := range append(carried, own) {
			of, err := s.o.Graphs.SubjectsOf(t)
			if err != nil {
				return nil, false, err
			}
			if slices.ContainsFunc(of, func(subject lethe.Digest) bool { return k.Subjects[subject] }) {
				out[s.o.Secret.Suppressed(own)] = true
			}
		}
	}
	return out, true, nil
}

// shared are the subjects of a request that others suppress too, with the last timestep of these.
func shared(e deletions.Entry, others []deletions.Entry) (out []lethe.SubjectUntil) {
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
