package coordinator

import (
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
)

// markErased sets the outcome of held targets. It stays: a repeated step may find nothing.
func markErased(p *deletions.Progress, secret lethe.Secret, targets []lethe.Target, held []bool) {
	for i, t := range targets {
		if !held[i] {
			continue
		}
		hash := secret.Suppressed(t)
		for k := range p.Outcomes {
			if p.Outcomes[k].Target == hash {
				p.Outcomes[k].Outcome = deletions.OutcomeErased
			}
		}
	}
}

// decide sets the outcomes. A target of another request is that one's, unless it was found again after that was
// verified.
func decide(p *deletions.Progress, earlier map[lethe.Digest]deletions.State) {
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		state, known := earlier[o.Target]
		switch {
		case known && (state != deletions.Verified || o.Outcome != deletions.OutcomeErased):
			o.Outcome = deletions.OutcomeAlreadyErased
		case o.Outcome != deletions.OutcomeErased:
			o.Outcome = deletions.OutcomeNothingHeld
		}
	}
}

// earlier returns the targets that other requests erase, with those requests' states. The order of receipt counts
// only within a batch, whose members find the same.
func earlier(list []deletions.Entry, one deletions.Entry) map[lethe.Digest]deletions.State {
	out := make(map[lethe.Digest]deletions.State)
	before := true
	for _, e := range list {
		if e.RequestID == one.RequestID {
			before = false
			continue
		}
		idle := e.State == deletions.Rejected || e.State == deletions.Cancelled || e.State == deletions.Held
		if idle || !before && e.Leader() == one.Leader() {
			continue
		}
		for _, target := range e.Suppressed() {
			if _, known := out[target]; !known && erases(e, target, before) {
				out[target] = e.State
			}
		}
		for _, o := range one.Progress.Outcomes {
			if _, known := out[o.Target]; !known && o.Kind == lethe.FeaturesTarget && erasesMore(e, o) {
				out[o.Target] = e.State
			}
		}
	}
	return out
}

// erases reports whether a request has found a target. Entries without outcomes count as before.
func erases(e deletions.Entry, target lethe.Digest, before bool) bool {
	found := func(o deletions.TargetOutcome) bool {
		return o.Target == target && o.Outcome == deletions.OutcomeErased
	}
	return slices.ContainsFunc(e.Progress.Outcomes, found) || slices.Contains(e.Progress.Carried, target) ||
		before && len(e.Progress.Outcomes) == 0
}

// erasesMore reports whether a request has found the whole transaction of some features, or more of its features.
func erasesMore(e deletions.Entry, features deletions.TargetOutcome) bool {
	if slices.Contains(e.Progress.Carried, features.Transaction) {
		return true
	}
	return slices.ContainsFunc(e.Progress.Outcomes, func(o deletions.TargetOutcome) bool {
		wider := o.Target == features.Transaction || o.Kind == lethe.FeaturesTarget &&
			o.Transaction == features.Transaction && o.Columns.Cover(features.Columns)
		return wider && o.Outcome == deletions.OutcomeErased
	})
}

// sharing matches the members of a batch, and requests that share a target with it.
func sharing(b batch) func(e *deletions.Entry) bool {
	named := make(map[lethe.Digest]bool)
	for _, e := range b.members {
		for _, o := range e.Progress.Outcomes {
			named[o.Target] = true
			if o.Kind == lethe.FeaturesTarget {
				named[o.Transaction] = true
			}
		}
	}
	isNamed := func(target lethe.Digest) bool { return named[target] }
	ids := b.ids()
	return func(e *deletions.Entry) bool {
		return slices.ContainsFunc(e.Targets, isNamed) || slices.ContainsFunc(e.Progress.Carried, isNamed) ||
			slices.ContainsFunc(e.Progress.Outcomes, func(o deletions.TargetOutcome) bool {
				return named[o.Target] || o.Kind == lethe.FeaturesTarget && named[o.Transaction]
			}) || slices.Contains(ids, e.RequestID)
	}
}

// decided sets one request's outcomes in a list: members of a batch are decided in order of receipt.
func decided(list []deletions.Entry, requestID string, outcomes []deletions.TargetOutcome) {
	for i := range list {
		if list[i].RequestID == requestID {
			list[i].Progress.Outcomes = outcomes
		}
	}
}

// namedBy reports for each target whether a finding has one of its fingerprints.
func (s *states) namedBy(targets []lethe.Target, found ...remains) ([]bool, error) {
	out := make([]bool, len(targets))
	for i, t := range targets {
		own, _, err := scan.TargetFingerprints(s.o.Secret, t)
		if err != nil {
			return nil, err
		}
		out[i] = slices.ContainsFunc(found, func(r remains) bool { return r.of(own) > 0 })
	}
	return out, nil
}

// naming returns, by request, the other open requests whose records in erasures.v1 name something of it.
func (v *Verification) naming(list []deletions.Entry) (map[string][]deletions.Entry, error) {
	open, err := v.states.o.Ledger.Open()
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(open, isPurged)
	if len(others) == 0 {
		return nil, nil
	}
	prints := (batch{members: list}).fingerprints()
	scanner, err := v.states.recordScanner(prints)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]deletions.Entry)
	for _, other := range others {
		named := make(map[scan.MAC]bool)
		j := v.states.jobs.of(other.RequestID)
		if j != nil {
			record, err := j.record(0)
			if err != nil {
				return nil, err
			}
			for _, h := range hitsIn(scanner, ingest.Record{Key: record.Key, Value: record.Value}) {
				named[prints[h.Fingerprint].MAC] = true
			}
		}
		for _, e := range list {
			// A request not read yet is known by its hashes alone.
			meets := j == nil && (meet(e, other) || meetFeatures(e, other)) ||
				slices.ContainsFunc(e.Progress.Fingerprints, func(f scan.Fingerprint) bool { return named[f.MAC] })
			if meets && e.RequestID != other.RequestID {
				out[e.RequestID] = append(out[e.RequestID], other)
			}
		}
	}
	return out, nil
}

// awaits reports whether a record of the others will leave erasures.v1 by itself, as that of no held request does.
func awaits(others []deletions.Entry) bool {
	return slices.ContainsFunc(others, func(other deletions.Entry) bool { return other.State != deletions.Held })
}

// meet reports whether two requests erase something in common.
func meet(a, b deletions.Entry) bool {
	all := b.Suppressed()
	return slices.ContainsFunc(a.Suppressed(), func(t lethe.Digest) bool { return slices.Contains(all, t) })
}

// meetFeatures reports whether a request is for features of a transaction that another erases.
func meetFeatures(whole, features deletions.Entry) bool {
	all := whole.Suppressed()
	return slices.ContainsFunc(features.Progress.Outcomes, func(o deletions.TargetOutcome) bool {
		return o.Kind == lethe.FeaturesTarget && slices.Contains(all, o.Transaction)
	})
}

// isPurged reports whether a request's record was deleted.
func isPurged(e deletions.Entry) bool {
	switch state := e.Stage(); state {
	case deletions.Erased:
		return e.Progress.Withdrawn
	default:
		return state.Final()
	}
}

// of returns the names of the holds that a request waits for.
func (h *holds) of(e deletions.Entry) ([]string, error) {
	list, err := h.holding(e)
	out := []string{}
	for _, hold := range list {
		out = append(out, hold.Name)
	}
	return out, err
}

// holding returns those holds.
func (h *holds) holding(e deletions.Entry) (out []deletions.Hold, err error) {
	list, err := h.o.Ledger.Holds()
	if err != nil {
		return nil, err
	}
	now := h.o.Clock.Now()
	list = slices.DeleteFunc(list, func(hold deletions.Hold) bool { return !hold.InForce(now) })
	if len(list) == 0 {
		return nil, nil
	}
	erased, _, err := h.begunTargets() // a hold came too late for these
	if err != nil {
		return nil, err
	}
	for _, hold := range list {
		k := deletions.KeptBy(now, hold)
		maps.DeleteFunc(k.Targets, func(target lethe.Digest, _ bool) bool { return erased[target] })
		_, waits, err := h.concern(e, k)
		if err != nil {
			return nil, err
		}
		if waits {
			out = append(out, hold)
		}
	}
	return out, nil
}

func names(e deletions.Entry, kept map[lethe.Digest]bool) bool {
	return slices.ContainsFunc(e.Suppressed(), func(t lethe.Digest) bool { return kept[t] }) ||
		slices.ContainsFunc(e.Progress.Outcomes, func(o deletions.TargetOutcome) bool { return kept[o.Transaction] })
}

// markHeld sets the outcome of protected targets, and of subjects with a protected carrier, to held, and clears it of
// others.
func markHeld(e *deletions.Entry, kept map[lethe.Digest]bool) {
	carried := slices.ContainsFunc(e.Progress.Carried, func(t lethe.Digest) bool { return kept[t] })
	for i := range e.Progress.Outcomes {
		o := &e.Progress.Outcomes[i]
		switch {
		case kept[o.Target] || kept[o.Transaction], carried && o.Kind == lethe.SubjectTarget:
			o.Outcome = deletions.OutcomeHeld
		case o.Outcome == deletions.OutcomeHeld:
			o.Outcome = ""
		}
	}
}

// keptOf returns what holds protect of a request, with the targets that go with a held subject. known is false until
// a new process has read the request.
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
