package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
)

// signatures checks the signatures of records of erasures.v1.
type signatures struct{ *states }

// approval is a record that signs another person's request.
type approval struct {
	ingest.Approve
	rec    ingest.Record
	signed authority.Signed
}

// request returns a request's signatures, or a refusal. A stored request with this content, and lethe's own, need
// none.
func (s signatures) request(rec ingest.Record, fresh deletions.Entry) (deletions.Signatures, error) {
	if s.o.Authority.Requests == 0 || ingest.IsOwn(s.o.Secret, rec) {
		return deletions.Signatures{}, nil
	}
	known, err := s.o.Ledger.Get(fresh.RequestID)
	if err == nil && known.Digest == fresh.Digest {
		return known.Signatures, nil
	}
	if err != nil && !errors.Is(err, deletions.ErrUnknownRequest) {
		return deletions.Signatures{}, err
	}
	signed, refusal := s.o.Authority.Check(rec, authority.Compliance)
	if refusal == nil {
		refusal = signed.InTime(s.o.Clock.Now())
	}
	if refusal != nil {
		return deletions.Signatures{}, refusal
	}
	return deletions.NewSignatures(signed.By, signed.Until), nil
}

// control adds a control record to the batch's, or refuses it for its signatures. One that changes nothing, as when
// read again, may have expired.
func (s signatures) control(rec ingest.Record, event ingest.Event, records *controls) error {
	if _, nothing := event.(ingest.Ignored); nothing {
		return nil
	}
	at := deletions.Position{At: rec.Time, Offset: rec.Offset}
	if rec.Time.IsZero() {
		at.At = s.o.Clock.Now()
	}
	var signed authority.Signed
	if s.o.Authority.Requests > 0 {
		var refusal *ingest.Refusal
		if signed, refusal = s.o.Authority.Check(rec, authority.Compliance); refusal != nil {
			return refusal
		}
		// A producer chooses the record's time, and could repeat an old record.
		at.At = signed.At
		changes, err := s.changes(event, at)
		if err != nil || !changes {
			return err
		}
		if refusal = signed.InTime(s.o.Clock.Now()); refusal != nil {
			return refusal
		}
	}
	switch control := event.(type) {
	case ingest.Cancel:
		records.cancelled = append(records.cancelled, control)
	case ingest.Approve:
		records.approved = append(records.approved, approval{control, rec, signed})
	case ingest.Hold, ingest.Lift:
		records.holds = append(records.holds, holdRecord{event, at})
	}
	return nil
}

// changes reports whether a record would change anything, now or after earlier ones of its batch.
func (s signatures) changes(event ingest.Event, at deletions.Position) (bool, error) {
	var id string
	switch control := event.(type) {
	case ingest.Cancel:
		id = control.RequestID
	case ingest.Approve:
		e, err := s.o.Ledger.Get(control.RequestID)
		if err == nil {
			return s.lacks(e) && e.State.Cancellable(), nil
		}
		id = control.RequestID
	default:
		list, err := s.o.Ledger.Holds()
		for _, hold := range list {
			if hold.Name == holdOf(event) {
				return at.After(hold.Said), err
			}
		}
		return true, err
	}
	e, err := s.o.Ledger.Get(id)
	if errors.Is(err, deletions.ErrUnknownRequest) {
		return true, nil
	}
	return e.State.Cancellable(), err
}

func holdOf(event ingest.Event) string {
	switch control := event.(type) {
	case ingest.Hold:
		return control.Name
	case ingest.Lift:
		return control.Name
	default:
		return ""
	}
}

// lacks reports whether a stored request waits for another signature. One that needed none when received, or was
// accepted once, does not.
func (s signatures) lacks(e deletions.Entry) bool {
	accepted := func(c deletions.Change) bool { return c.State == deletions.Accepted }
	return !slices.ContainsFunc(e.History, accepted) &&
		len(e.SignedBy) > 0 && s.o.Authority.Holders(e.SignedBy) < s.o.Authority.Requests
}

// approve adds signatures to waiting requests. Nobody counts twice.
func (s signatures) approve(ctx context.Context, list []approval, results *answers) error {
	for _, a := range list {
		e, err := s.o.Ledger.Get(a.RequestID)
		switch {
		case errors.Is(err, deletions.ErrUnknownRequest):
			s.o.Logger.Warn("not approved: no such request", "request_id", a.RequestID)
			continue
		case err != nil:
			return err
		case e.Digest != a.Digest || !s.lacks(e) || e.State != deletions.Held:
			s.o.Logger.Warn("not approved: the request has another digest, or does not wait for a signature",
				"request_id", a.RequestID, "state", e.State)
			continue
		}
		with := e.WithSignatures(a.signed.By, a.signed.Until)
		if s.o.Authority.Holders(with.SignedBy) == s.o.Authority.Holders(e.SignedBy) {
			results.letters = append(results.letters, letter{a.rec, &ingest.Refusal{
				Reason: ingest.SamePerson, Detail: "it takes the signature of another person than who has signed already",
			}})
			continue
		}
		if e, err = s.o.Ledger.Sign(a.RequestID, a.signed.By, a.signed.Until); err != nil {
			return err
		}
		now, err := s.holds.waitsFor(e)
		if err != nil {
			return err
		}
		if e, err = s.o.Ledger.Update(e.RequestID, func(p *deletions.Progress) { p.WaitsFor = now }); err != nil {
			return err
		}
		s.o.Logger.Info("erasure approved", "request_id", e.RequestID, "signed_by", e.SignedBy)
		if err := s.out.announce(ctx, e); err != nil {
			return err
		}
		s.dirty = true
	}
	return nil
}

// expire rejects requests that lack a signature when their first one expires, and returns their number.
func (s signatures) expire(ctx context.Context, open []deletions.Entry) (int, error) {
	var late batch
	for _, e := range open {
		if e.State == deletions.Held && s.lacks(e) && e.Expired(s.o.Clock.Now()) {
			late.members = append(late.members, e)
		}
	}
	if len(late.members) == 0 {
		return 0, nil
	}
	if _, err := s.stop(ctx, late, deletions.Rejected, deletions.RejectedExpired); err != nil {
		return 0, err
	}
	var tombstones []ingest.Outgoing
	for _, id := range late.ids() {
		s.o.Logger.Warn("erasure rejected: nobody else has signed it in time", "request_id", id)
		s.jobs.drop(id)
		tombstones = append(tombstones, ingest.Outgoing{Key: []byte(id)})
	}
	// Their targets are no longer needed.
	if err := s.o.Bus.Write(ctx, bus.Erasures, tombstones); err != nil {
		return 0, fmt.Errorf("purge %d requests: %w", len(tombstones), err)
	}
	return len(late.members), nil
}

// next is the earlier of a time and the first expiry of a waiting request's signature; zero is never.
func (s signatures) next(before time.Time) (time.Time, error) {
	waiting, err := s.o.Ledger.List(deletions.Held)
	for _, e := range waiting {
		if s.lacks(e) && !e.SignedUntil.IsZero() && (before.IsZero() || e.SignedUntil.Before(before)) {
			before = e.SignedUntil
		}
	}
	return before, err
}

// waitsFor returns the holds and signatures that a request waits for.
func (h *holds) waitsFor(e deletions.Entry) (*deletions.WaitsFor, error) {
	var out deletions.WaitsFor
	list, err := h.holding(e)
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

// explain publishes changes of WaitsFor. It recomputes them only when the holds in force have changed.
func (h *holds) explain(ctx context.Context, waiting []deletions.Entry) error {
	list, err := h.o.Ledger.Holds()
	if err != nil {
		return err
	}
	var inForce strings.Builder
	for _, hold := range list {
		if hold.InForce(h.o.Clock.Now()) {
			fmt.Fprintln(&inForce, hold.Name, hold.Said.At, hold.Said.Offset)
		}
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
		if e, err = h.o.Ledger.Update(e.RequestID, func(p *deletions.Progress) { p.WaitsFor = now }); err != nil {
			return err
		}
		if err := h.out.announce(ctx, e); err != nil {
			return err
		}
	}
	h.explained = inForce.String()
	return nil
}
