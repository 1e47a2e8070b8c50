package batch

import (
	"slices"

	"lethe"
	"lethe/deletions"
)

// MarkErased sets the outcome of held targets. It stays: a repeated step may find nothing.
func MarkErased(p *deletions.Progress, secret lethe.Secret, targets []lethe.Target, held []bool) {
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

// Decide sets the outcomes of a request. A target of another request (Earlier) belongs to that one, unless it was
// found again after that was verified.
func Decide(p *deletions.Progress, earlier map[lethe.Digest]deletions.State) {
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

// Earlier returns the targets that other requests erase, with those requests' states. The order of receipt counts
// only within a batch, whose members find the same.
func Earlier(list []deletions.Entry, one deletions.Entry) map[lethe.Digest]deletions.State {
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

// Sharing matches the members of a batch, and requests that share a target with it.
func (b Batch) Sharing() func(e *deletions.Entry) bool {
	named := make(map[lethe.Digest]bool)
	for _, e := range b.Members {
		for _, o := range e.Progress.Outcomes {
			named[o.Target] = true
			if o.Kind == lethe.FeaturesTarget {
				named[o.Transaction] = true
			}
		}
	}
	isNamed := func(target lethe.Digest) bool { return named[target] }
	ids := b.IDs()
	return func(e *deletions.Entry) bool {
		return slices.ContainsFunc(e.Targets, isNamed) || slices.ContainsFunc(e.Progress.Carried, isNamed) ||
			slices.ContainsFunc(e.Progress.Outcomes, func(o deletions.TargetOutcome) bool {
				return named[o.Target] || o.Kind == lethe.FeaturesTarget && named[o.Transaction]
			}) || slices.Contains(ids, e.RequestID)
	}
}

// Meet reports whether two requests erase something in common.
func Meet(a, b deletions.Entry) bool {
	all := b.Suppressed()
	return slices.ContainsFunc(a.Suppressed(), func(t lethe.Digest) bool { return slices.Contains(all, t) })
}

// MeetFeatures reports whether a request is for features of a transaction that another erases.
func MeetFeatures(whole, features deletions.Entry) bool {
	all := whole.Suppressed()
	return slices.ContainsFunc(features.Progress.Outcomes, func(o deletions.TargetOutcome) bool {
		return o.Kind == lethe.FeaturesTarget && slices.Contains(all, o.Transaction)
	})
}

// IsPurged reports whether a request's record was deleted from erasures.v1.
func IsPurged(e deletions.Entry) bool {
	if state := e.Stage(); state != deletions.Erased {
		return state.Final()
	}
	return e.Progress.Withdrawn
}

// Names reports whether holds protect something of a request.
func Names(e deletions.Entry, kept map[lethe.Digest]bool) bool {
	return slices.ContainsFunc(e.Suppressed(), func(t lethe.Digest) bool { return kept[t] }) ||
		slices.ContainsFunc(e.Progress.Outcomes, func(o deletions.TargetOutcome) bool { return kept[o.Transaction] })
}

// MarkHeld sets the outcome of protected targets, and of subjects with a protected carrier, to held, and clears it of
// others.
func MarkHeld(e *deletions.Entry, kept map[lethe.Digest]bool) {
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
