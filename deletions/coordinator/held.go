package coordinator

import (
	"context"
	"crypto/ed25519"
	"errors"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

// holds protects targets. A request that names one waits in Held as a whole, suppressing nothing, until no hold
// applies.
type holds struct {
	*states
	// next is when the first hold in force, or signature of a waiting request, expires; zero for none.
	next time.Time
	// explained identifies the holds in force at the last update of WaitsFor.
	explained string
}

// holdRecord is a record that sets or lifts a hold.
type holdRecord struct {
	event ingest.Event
	at    deletions.Position
}

// take sets and lifts holds in order. Repeated records, and a hold under a name in force, change nothing.
func (h *holds) take(ctx context.Context, list []holdRecord) error {
	for _, one := range list {
		changed, err := h.change(one)
		if err != nil {
			return err
		}
		if changed == nil {
			continue
		}
		if err := h.o.Ledger.PutHold(*changed); err != nil {
			return err
		}
		h.o.Logger.Info("hold", "hold_id", changed.Name, "state", changed.State(h.o.Clock.Now()),
			"targets", len(changed.Targets), "too_late", changed.TooLate)
		if err := SayHolds(ctx, h.o.Bus, h.o.Secret, h.o.SigningKey, *changed); err != nil {
			return err
		}
	}
	return nil
}

// SayHolds publishes holds, signed with the key of receipts.
func SayHolds(
	ctx context.Context, to wire.Publisher, secret lethe.Secret, key ed25519.PrivateKey, holds ...deletions.Hold,
) error {
	for _, hold := range holds {
		records, err := ledgercopy.HoldRecords(secret, hold)
		if err == nil {
			records, err = wire.SignAnswers(records, key)
		}
		if err == nil {
			err = wire.Say(ctx, to, records)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// change returns a hold after a record, or nil if it is unchanged.
func (h *holds) change(one holdRecord) (*deletions.Hold, error) {
	known, err := h.o.Ledger.Holds()
	if err != nil {
		return nil, err
	}
	of := func(name string) *deletions.Hold {
		if at := slices.IndexFunc(known, func(k deletions.Hold) bool { return k.Name == name }); at >= 0 {
			return &known[at]
		}
		return nil
	}
	now := h.o.Clock.Now()
	switch record := one.event.(type) {
	case ingest.Lift:
		hold := of(record.Name)
		if hold == nil || !hold.InForce(now) || !one.at.After(hold.Said) {
			return nil, nil
		}
		hold.LiftedAt, hold.Said = one.at.At, one.at
		return hold, nil
	case ingest.Hold:
		before := of(record.Name)
		if before != nil && (before.InForce(now) || !one.at.After(before.Said)) {
			return nil, nil
		}
		hold, err := deletions.NewHold(h.o.Secret, record.Name, record.Reason, record.Targets(), record.Until, one.at)
		if errors.Is(err, deletions.ErrRequest) {
			h.o.Logger.Warn("a hold was not taken: its name holds the id of what it names")
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		erased, redacted, err := h.begunTargets()
		for _, target := range hold.Targets {
			if erased[target] || redacted[target] {
				hold.TooLate++
			}
		}
		return &hold, err
	default:
		return nil, nil
	}
}

// begunTargets are targets erased or being erased, which a hold no longer protects, and transactions with erased
// features, of which it protects the rest.
func (h *holds) begunTargets() (erased, redacted map[lethe.Digest]bool, err error) {
	list, err := h.o.Ledger.List()
	erased, redacted = make(map[lethe.Digest]bool), make(map[lethe.Digest]bool)
	for _, e := range list {
		if !begun(e) {
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

// kept is what all holds protect, without targets already erased.
func (h *holds) kept() (deletions.Kept, error) {
	list, err := h.o.Ledger.Holds()
	if err != nil {
		return deletions.Kept{}, err
	}
	now := h.o.Clock.Now()
	h.next = time.Time{}
	for _, hold := range list {
		if hold.InForce(now) && !hold.Until.IsZero() && (h.next.IsZero() || hold.Until.Before(h.next)) {
			h.next = hold.Until
		}
	}
	k := deletions.KeptBy(now, list...)
	if h.next, err = h.signed.next(h.next); err != nil || len(k.Targets) == 0 {
		return k, err
	}
	erased, _, err := h.begunTargets()
	for target := range k.Targets {
		if erased[target] {
			delete(k.Targets, target)
		}
	}
	return k, err
}

// waiting are requests to be held, each with what holds protect of it.
type waiting struct {
	list []deletions.Entry
	kept []map[lethe.Digest]bool
}

func (w *waiting) add(e deletions.Entry, kept map[lethe.Digest]bool) {
	w.list, w.kept = append(w.list, e), append(w.kept, kept)
}

// apply holds and releases requests for which nothing was rewritten, and returns the open requests afterwards.
func (h *holds) apply(ctx context.Context, open []deletions.Entry) ([]deletions.Entry, error) {
	kept, err := h.kept()
	if err != nil {
		return nil, err
	}
	var wait waiting
	var release, still []deletions.Entry
	for _, e := range open {
		if !slices.Contains([]deletions.State{deletions.Accepted, deletions.Suppressed, deletions.Held}, e.State) {
			continue
		}
		own, waits, err := h.waits(e, kept)
		if err != nil {
			return nil, err
		}
		switch {
		case waits && e.State != deletions.Held:
			wait.add(e, own)
		case !waits && e.State == deletions.Held:
			release = append(release, e)
		case waits:
			still = append(still, e)
		}
	}
	if err := h.explain(ctx, still); err != nil {
		return nil, err
	}
	expired, err := h.signed.expire(ctx, open)
	if err != nil {
		return nil, err
	}
	if len(wait.list)+len(release)+expired == 0 {
		return open, nil
	}
	if _, err := h.wait(ctx, wait); err != nil {
		return nil, err
	}
	if len(release) > 0 {
		b := batch{release[0].RequestID, release}
		for _, id := range b.ids() {
			delete(h.cancelled.pending, id)
		}
		if _, err := h.move(ctx, b, deletions.Accepted, func(_ int, e *deletions.Entry) {
			markHeld(e, nil)
			e.Progress.WaitsFor = nil
		}); err != nil {
			return nil, err
		}
	}
	return h.o.Ledger.Open()
}

// wait moves requests to Held and lifts their suppression.
func (h *holds) wait(ctx context.Context, w waiting) ([]deletions.Entry, error) {
	if len(w.list) == 0 {
		return nil, nil
	}
	reasons := make([]*deletions.WaitsFor, len(w.list))
	for i, e := range w.list {
		var err error
		if reasons[i], err = h.waitsFor(e); err != nil {
			return nil, err
		}
	}
	b, err := h.move(ctx, batch{w.list[0].RequestID, w.list}, deletions.Held, func(i int, e *deletions.Entry) {
		e.Found(&w.list[i])
		markHeld(e, w.kept[i])
		e.Progress.WaitsFor = reasons[i]
	})
	if err != nil {
		return nil, err
	}
	for i, before := range w.list {
		h.o.Logger.Info("erasure is held", "request_id", before.RequestID, "lacks_signatures", h.signed.lacks(before))
		if before.State == deletions.Received {
			continue
		}
		if err := h.cancelled.lift(ctx, b.members[i]); err != nil {
			return nil, err
		}
	}
	return b.members, nil
}
