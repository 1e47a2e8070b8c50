package coordinator

import (
	"maps"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/deletions/late"
)

// holds protects targets. A request that names one waits in Held as a whole, suppressing nothing, until no hold
// applies.
type holds struct {
	*core
	signed    signatures
	cancelled *cancellations
	// next is when the first hold in force, or signature of a waiting request, expires; zero for none.
	next time.Time
	// explained identifies the holds in force at the last update of WaitsFor.
	explained string
}

// passed reports whether a hold or a signature has expired since.
func (h *holds) passed() bool { return !h.next.IsZero() && !h.now().Before(h.next) }

// inForce lists the holds in force.
func (h *holds) inForce() ([]deletions.Hold, error) {
	list, err := h.o.Ledger.Holds()
	now := h.now()
	return slices.DeleteFunc(list, func(hold deletions.Hold) bool { return !hold.InForce(now) }), err
}

// kept are the hashes that all holds protect, without targets already erased.
func (h *holds) kept() (deletions.Kept, error) {
	list, err := h.inForce()
	if err != nil {
		return deletions.Kept{}, err
	}
	h.next = time.Time{}
	for _, hold := range list {
		h.next = earliest(h.next, hold.Until)
	}
	k := deletions.KeptBy(h.now(), list...)
	if h.next, err = h.signed.next(h.next); err != nil || len(k.Targets) == 0 {
		return k, err
	}
	erased, _, err := h.begunTargets()
	maps.DeleteFunc(k.Targets, func(target lethe.Digest, _ bool) bool { return erased[target] })
	return k, err
}

// begunTargets are targets erased or being erased, which a hold no longer protects, and transactions with erased
// features, of which it protects the rest.
func (h *holds) begunTargets() (erased, redacted map[lethe.Digest]bool, err error) {
	list, err := h.o.Ledger.List()
	erased, redacted = make(map[lethe.Digest]bool), make(map[lethe.Digest]bool)
	for _, e := range list {
		if !batch.Begun(e) {
			continue
		}
		for _, target := range e.Suppressed() {
			erased[target] = true
		}
		for _, o := range e.Progress.Outcomes {
			if o.Kind == lethe.FeaturesTarget {
				redacted[o.Transaction] = true
			}
		}
	}
	return erased, redacted, err
}

// concern reports whether holds apply to a request, also through the subject request of late carriers, and returns the
// hashes that they protect. A held request stays held until a new process knows enough to decide.
func (h *holds) concern(e deletions.Entry, k deletions.Kept) (own map[lethe.Digest]bool, waits bool, err error) {
	if len(k.Targets)+len(k.Subjects) == 0 {
		return nil, false, nil
	}
	own, known, err := (subjects{h.core}).keptOf(e, k)
	if err != nil || batch.Names(e, own) {
		return own, true, err
	}
	of, is, err := late.Of(h.o.Secret, h.o.Ledger, e)
	if err != nil || !is || batch.Begun(of) {
		return own, !known && e.State == deletions.Held, err
	}
	theirs, knownToo, err := (subjects{h.core}).keptOf(of, k)
	return own, batch.Names(of, theirs) || (!known || !knownToo) && e.State == deletions.Held, err
}

// waits is concern, or a missing signature.
func (h *holds) waits(e deletions.Entry, k deletions.Kept) (own map[lethe.Digest]bool, waits bool, err error) {
	own, waits, err = h.concern(e, k)
	return own, waits || h.signed.lacks(e), err
}

// of returns the holds that a request waits for.
func (h *holds) of(e deletions.Entry) (out []deletions.Hold, err error) {
	list, err := h.inForce()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	erased, _, err := h.begunTargets() // a hold came too late for these
	if err != nil {
		return nil, err
	}
	for _, hold := range list {
		k := deletions.KeptBy(h.now(), hold)
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

// ofTargets returns the holds in force that would hold a request for some targets.
func (h *holds) ofTargets(targets []lethe.Target) (out []deletions.WaitsForHold, err error) {
	list, err := h.inForce()
	if err != nil {
		return nil, err
	}
	named, carried := make(map[lethe.Digest]bool), make(map[lethe.Digest]bool)
	for _, t := range targets {
		named[h.o.Secret.Suppressed(t)] = true
		if t.Kind == lethe.FeaturesTarget {
			named[h.o.Secret.Suppression(t.Transaction)] = true
		}
		subjects, err := h.o.Graphs.SubjectsOf(t)
		if err != nil {
			return nil, err
		}
		for _, subject := range subjects {
			carried[subject] = true
		}
	}
	for _, hold := range list {
		isNamed := func(d lethe.Digest) bool { return named[d] }
		isCarried := func(d lethe.Digest) bool { return carried[d] }
		if slices.ContainsFunc(hold.Targets, isNamed) || slices.ContainsFunc(hold.Subjects, isCarried) {
			out = append(out, deletions.WaitsForHold{Name: hold.Name, Until: hold.Until})
		}
	}
	return out, nil
}

// waitsFor returns the holds and signatures that a request waits for.
func (h *holds) waitsFor(e deletions.Entry) (*deletions.WaitsFor, error) {
	var out deletions.WaitsFor
	list, err := h.of(e)
	if err != nil {
		return nil, err
	}
	for _, hold := range list {
		out.Holds = append(out.Holds, deletions.WaitsForHold{Name: hold.Name, Until: hold.Until})
	}
	if h.signed.lacks(e) {
		out.Signatures = &deletions.WaitsForSignatures{
			Given: h.o.Authority.Holders(e.SignedBy), Needed: h.o.Authority.Requests,
		}
	}
	if len(out.Holds) == 0 && out.Signatures == nil {
		return nil, nil
	}
	return &out, nil
}
