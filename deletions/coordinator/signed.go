package coordinator

import (
	"context"
	"errors"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/ingest"
	"lethe/ingest/authority"
)

// signatures checks the signatures of records of erasures.v1.
type signatures struct{ *core }

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
		refusal = signed.InTime(s.now())
	}
	if refusal != nil {
		return deletions.Signatures{}, refusal
	}
	return deletions.NewSignatures(signed.By, signed.Until), nil
}

// controls are the control records of a batch.
type controls struct {
	cancelled []ingest.Cancel
	approved  []approval
	holds     []holdRecord
}

// control adds a control record to the batch's, or refuses it for its signatures. One that changes nothing, as when
// read again, may have expired.
func (s signatures) control(rec ingest.Record, event ingest.Event, records *controls) error {
	if _, nothing := event.(ingest.Ignored); nothing {
		return nil
	}
	at := deletions.Position{At: rec.Time, Offset: rec.Offset}
	if rec.Time.IsZero() {
		at.At = s.now()
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
		if refusal = signed.InTime(s.now()); refusal != nil {
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
	lacks := func(deletions.Entry) bool { return true }
	switch control := event.(type) {
	case ingest.Cancel:
		id = control.RequestID
	case ingest.Approve:
		id, lacks = control.RequestID, s.lacks
	default:
		list, err := s.o.Ledger.Holds()
		for _, hold := range list {
			if hold.Name == holdOf(event) {
				return at.After(hold.LastChange), err
			}
		}
		return true, err
	}
	e, err := s.o.Ledger.Get(id)
	if errors.Is(err, deletions.ErrUnknownRequest) {
		return true, nil
	}
	return lacks(e) && e.State.Cancellable(), err
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

// expire rejects requests that lack a signature when their first one expires, and returns their number.
func (s signatures) expire(ctx context.Context, open []deletions.Entry) (int, error) {
	late := batch.Batch{Members: open}.Where(func(e deletions.Entry) bool {
		return e.State == deletions.Held && s.lacks(e) && e.Expired(s.now())
	})
	if len(late.Members) == 0 {
		return 0, nil
	}
	if _, err := s.stop(ctx, late, deletions.Rejected, deletions.RejectedExpired); err != nil {
		return 0, err
	}
	for _, id := range late.IDs() {
		s.o.Logger.Warn("erasure rejected: nobody else has signed it in time", "request_id", id)
		s.jobs.drop(id)
	}
	return len(late.Members), s.out.purge(ctx, late.IDs()...)
}

// next is the earlier of a time and the first expiry of a waiting request's signature; zero is never.
func (s signatures) next(before time.Time) (time.Time, error) {
	waiting, err := s.o.Ledger.List(deletions.Held)
	for _, e := range waiting {
		if s.lacks(e) {
			before = earliest(before, e.SignedUntil)
		}
	}
	return before, err
}
