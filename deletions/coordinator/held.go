package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/ingest"
)

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
		h.o.Logger.Info("hold", "hold_id", changed.Name, "state", changed.State(h.now()),
			"targets", len(changed.Targets), "too_late", changed.TooLate)
		if err := PublishHolds(ctx, h.o.Bus, h.o.SigningKey, *changed); err != nil {
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
	var before *deletions.Hold
	name := holdOf(one.event)
	if at := slices.IndexFunc(known, func(k deletions.Hold) bool { return k.Name == name }); at >= 0 {
		before = &known[at]
	}
	inForce := before != nil && before.InForce(h.now())
	if before != nil && !one.at.After(before.LastChange) {
		return nil, nil
	}
	switch record := one.event.(type) {
	case ingest.Lift:
		if !inForce {
			return nil, nil
		}
		before.LiftedAt, before.LastChange = one.at.At, one.at
		return before, nil
	case ingest.Hold:
		if inForce {
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

// waiting are requests to be held, each with its targets that holds protect.
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
		b := batch.Batch{Leader: release[0].RequestID, Members: release}
		for _, id := range b.IDs() {
			delete(h.cancelled.pending, id)
		}
		if _, err := h.move(ctx, b, deletions.Accepted, func(_ int, e *deletions.Entry) {
			batch.MarkHeld(e, nil)
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
	b := batch.Batch{Leader: w.list[0].RequestID, Members: w.list}
	b, err := h.move(ctx, b, deletions.Held, func(i int, e *deletions.Entry) {
		e.Found(&w.list[i])
		batch.MarkHeld(e, w.kept[i])
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
		if err := h.cancelled.lift(ctx, b.Members[i]); err != nil {
			return nil, err
		}
	}
	return b.Members, nil
}

// explain publishes changes of WaitsFor. It recomputes them only when the holds in force have changed.
func (h *holds) explain(ctx context.Context, waiting []deletions.Entry) error {
	list, err := h.inForce()
	if err != nil {
		return err
	}
	var inForce strings.Builder
	for _, hold := range list {
		fmt.Fprintln(&inForce, hold.Name, hold.LastChange.At, hold.LastChange.Offset)
	}
	same := h.explained == inForce.String()
	for _, e := range waiting {
		if same && e.Progress.WaitsFor != nil {
			continue
		}
		now, err := h.waitsFor(e)
		if err != nil {
			return err
		}
		if now.Equal(e.Progress.WaitsFor) {
			continue
		}
		if err := h.explainOne(ctx, e, now); err != nil {
			return err
		}
	}
	h.explained = inForce.String()
	return nil
}

func (h *holds) explainOne(ctx context.Context, e deletions.Entry, now *deletions.WaitsFor) error {
	list, err := h.o.Ledger.UpdateAll([]string{e.RequestID}, func(_ int, p *deletions.Progress) { p.WaitsFor = now })
	if err != nil {
		return err
	}
	return h.out.announce(ctx, list...)
}

// approve adds signatures to waiting requests. It returns the records whose signer had signed already.
func (h *holds) approve(ctx context.Context, list []approval) (refused []letter, err error) {
	for _, a := range list {
		e, err := h.o.Ledger.Get(a.RequestID)
		switch {
		case errors.Is(err, deletions.ErrUnknownRequest):
			h.o.Logger.Warn("not approved: no such request", "request_id", a.RequestID)
			continue
		case err != nil:
			return nil, err
		case e.Digest != a.Digest || !h.signed.lacks(e) || e.State != deletions.Held:
			h.o.Logger.Warn("not approved: the request has another digest, or does not wait for a signature",
				"request_id", a.RequestID, "state", e.State)
			continue
		}
		with := e.WithSignatures(a.signed.By, a.signed.Until)
		if h.o.Authority.Holders(with.SignedBy) == h.o.Authority.Holders(e.SignedBy) {
			refused = append(refused, letter{a.rec, &ingest.Refusal{
				Reason: ingest.SamePerson, Detail: "another person must sign than the one that has signed",
			}})
			continue
		}
		if e, err = h.o.Ledger.Sign(a.RequestID, a.signed.By, a.signed.Until); err != nil {
			return nil, err
		}
		now, err := h.waitsFor(e)
		if err != nil {
			return nil, err
		}
		h.o.Logger.Info("erasure approved", "request_id", e.RequestID, "signed_by", e.SignedBy)
		if err := h.explainOne(ctx, e, now); err != nil {
			return nil, err
		}
		h.dirty = true
	}
	return refused, nil
}
