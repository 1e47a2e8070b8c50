package coordinator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
)

// intake is the content of a batch of erasures.v1.
type intake struct {
	*core
	signed signatures
	source bus.TopicPartition
	// list are the requests.
	list []submission
	controls
	// refused has the indexes of refused records; statuses and letters answer them.
	refused  map[int]bool
	statuses []deletions.Status
	letters  []letter
}

// submission is a request read from a batch.
type submission struct {
	// at is its index in the batch.
	at     int
	fresh  deletions.Entry
	cameAt time.Time
	job    job
}

// count is the number of records that were not refused at once.
func (in *intake) count() int {
	return len(in.list) + len(in.cancelled) + len(in.approved) + len(in.holds)
}

// add decodes a record, or refuses it.
func (in *intake) add(at int, rec ingest.Record) error {
	one, err := in.read(rec)
	var refusal *ingest.Refusal
	switch {
	case errors.As(err, &refusal) && one.fresh.RequestID != "":
		in.o.Logger.Warn("erasure rejected: "+refusal.Error(), "request_id", one.fresh.RequestID)
		in.reject(at, one, deletions.FailureCode(refusal.Reason))
	case refusal != nil:
		in.refused[at] = true
		in.letters = append(in.letters, letter{rec, refusal})
	case errors.Is(err, deletions.ErrNamesTarget):
		in.reject(at, one, deletions.RejectedName)
	case err != nil:
		return fmt.Errorf("%s@%d: %w", in.source, rec.Offset, err)
	case one.job.request.RequestID != "":
		one.at = at
		in.list = append(in.list, one)
	}
	return nil
}

func (in *intake) reject(at int, one submission, why deletions.FailureCode) {
	in.refused[at] = true
	in.statuses = append(in.statuses, one.fresh.Refuse(why, one.cameAt))
}

// read decodes a request, or a control record, which it adds. For other records the error is an *ingest.Refusal.
func (in *intake) read(rec ingest.Record) (one submission, err error) {
	event, err := ingest.DecodeErasure(rec, in.o.Limits)
	if err != nil {
		return one, err
	}
	request, ok := event.(ingest.Erasure)
	if !ok {
		return one, in.signed.control(rec, event, &in.controls)
	}
	now := in.now()
	if one.cameAt = rec.Time; rec.Time.IsZero() {
		one.cameAt = now
	}
	one.job = job{
		request: request.ErasureRequest, requestedAt: request.RequestedAt, source: in.source, next: rec.Offset + 1,
	}
	one.fresh, err = deletions.NewEntry(in.o.Secret, request.ErasureRequest, now)
	if request.Scope == "" { // that of a rejected one is published too
		var failed error
		if one.fresh.Scope, failed = in.scopeOf(request.RequestID); failed != nil {
			return one, failed
		}
	}
	if err != nil {
		return one, err
	}
	for _, t := range lethe.Distinct(request.Targets) {
		spelled, notSearched, err := scan.SpelledFingerprints(in.o.Secret, in.o.Limits.Normalise, t)
		if err != nil {
			return one, err
		}
		p := &one.fresh.Progress
		p.Fingerprints, p.NotSearched = append(p.Fingerprints, spelled...), sortedset.Add(p.NotSearched, notSearched...)
	}
	one.fresh.Signatures, err = in.signed.request(rec, one.fresh)
	return one, err
}

// scopeOf is the scope of a request without one: that of the stored request of its id, which it may repeat, or else
// the default.
func (in *intake) scopeOf(requestID string) (lethe.Scope, error) {
	known, err := in.o.Ledger.Get(requestID)
	if errors.Is(err, deletions.ErrUnknownRequest) {
		return in.o.DefaultScope, nil
	}
	return known.Scope, err
}

// enter stores requests in one write, rejects those with a taken id, and returns the others once each.
func (in *intake) enter() (admitted []deletions.Entry, err error) {
	fresh := make([]deletions.Entry, len(in.list))
	for i, one := range in.list {
		fresh[i] = one.fresh
	}
	entries, errs, err := in.o.Ledger.TakeAll(fresh)
	if err != nil {
		return nil, err
	}
	for i, one := range in.list {
		e := entries[i]
		switch {
		case errors.Is(errs[i], deletions.ErrConflict):
			in.reject(one.at, one, deletions.RejectedConflict)
			continue
		case errors.Is(errs[i], deletions.ErrRepeat):
			in.statuses = append(in.statuses, one.fresh.Repeat(e))
			if in.jobs.of(e.RequestID) != nil {
				in.refused[one.at] = true
				continue
			}
			// The log has lost the first record to this one with the same targets.
		case errs[i] != nil:
			return nil, errs[i]
		}
		if e.State != deletions.Rejected && e.State != deletions.Cancelled {
			in.jobs.put(one.job)
		}
		known := func(k deletions.Entry) bool { return k.RequestID == e.RequestID }
		if !slices.ContainsFunc(admitted, known) {
			admitted = append(admitted, e)
		}
	}
	return admitted, nil
}
