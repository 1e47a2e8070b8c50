package coordinator

import (
	"context"
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
	"lethe/metrics/events"
)

// Requests reads the requests of erasures.v1 and deletes their records when no longer needed.
type Requests struct{ states *states }

// Take stores the requests of a batch and suppresses their targets. Offsets are committed once targets are not
// needed, so that a restart reads them again.
func (r *Requests) Take(ctx context.Context, batch bus.Batch) error {
	r.states.dirty = true
	var list []submission
	var records controls
	results := answers{refused: make(map[int]bool)}
	for i, rec := range batch.Records {
		one, err := r.read(rec, batch.Source, list, &records)
		var refusal *ingest.Refusal
		switch {
		case errors.As(err, &refusal) && one.fresh.RequestID != "":
			r.states.o.Logger.Warn("erasure rejected: "+refusal.Error(), "request_id", one.fresh.RequestID)
			results.add(i, one.fresh.Refuse(deletions.FailureCode(refusal.Reason), one.cameAt))
		case refusal != nil:
			results.dead(i, rec, refusal)
		case errors.Is(err, deletions.ErrNamesTarget):
			results.add(i, one.fresh.Refuse(deletions.RejectedName, one.cameAt))
		case err != nil:
			return fmt.Errorf("%s@%d: %w", batch.Source, rec.Offset, err)
		case one.job.request.RequestID != "":
			one.at = i
			list = append(list, one)
		}
	}
	admitted, err := r.enter(list, &results)
	if err == nil {
		err = r.states.out.publish(ctx, results.statuses)
	}
	if err == nil {
		// Holds of the batch come before acceptance.
		err = r.states.holds.take(ctx, records.holds)
	}
	if err == nil {
		err = r.admit(ctx, admitted)
	}
	if err == nil {
		err = r.states.cancelled.take(ctx, records.cancelled)
	}
	if err == nil {
		err = r.states.signed.approve(ctx, records.approved, &results)
	}
	if err == nil {
		err = r.states.out.deadLetter(ctx, results.letters, r.states.o.Version)
	}
	if err != nil {
		return fmt.Errorf("%s up to %d: %w", batch.Source, batch.Next, err)
	}
	if err := r.tidy(ctx, batch, results.refused); err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	if err := r.states.jobs.commit(batch.Source, batch.Next); err != nil {
		return err
	}
	if n := len(list) + len(records.cancelled) + len(records.approved) + len(records.holds); n > 0 {
		r.states.o.Listener.RecordsConsumed(events.RecordsConsumed{
			Topic: string(bus.Erasures), Result: events.Accepted, Count: n,
		})
	}
	return nil
}

// submission is a request read from a batch.
type submission struct {
	// at is its index in the batch.
	at     int
	fresh  deletions.Entry
	cameAt time.Time
	job    job
}

// answers are the rejections and dead letters of a batch; refused has the records' indexes.
type answers struct {
	refused  map[int]bool
	statuses []deletions.Status
	letters  []letter
}

// letter is a refused record.
type letter struct {
	rec     ingest.Record
	refusal *ingest.Refusal
}

func (a *answers) dead(at int, rec ingest.Record, refusal *ingest.Refusal) {
	a.refused[at] = true
	a.letters = append(a.letters, letter{rec, refusal})
}

func (a *answers) add(at int, s deletions.Status) {
	a.refused[at] = true
	a.statuses = append(a.statuses, s)
}

// controls are the control records of a batch.
type controls struct {
	cancelled []ingest.Cancel
	approved  []approval
	holds     []holdRecord
}

// read decodes a record; control records are added to said. What is no request is an *ingest.Refusal. before are the
// batch's earlier requests.
func (r *Requests) read(
	rec ingest.Record, source bus.TopicPartition, before []submission, records *controls,
) (one submission, err error) {
	event, err := ingest.DecodeErasure(rec, r.states.o.Limits)
	if err != nil {
		return one, err
	}
	request, ok := event.(ingest.Erasure)
	if !ok {
		return one, r.states.signed.control(rec, event, records)
	}
	if request.Scope, err = r.scopeOf(request.ErasureRequest, before); err != nil {
		return one, err
	}
	now := r.states.o.Clock.Now()
	if one.cameAt = rec.Time; rec.Time.IsZero() {
		one.cameAt = now
	}
	one.job = job{
		request: request.ErasureRequest, requestedAt: request.RequestedAt, source: source, next: rec.Offset + 1,
	}
	if one.fresh, err = deletions.NewEntry(r.states.o.Secret, request.ErasureRequest, now); err != nil {
		return one, err
	}
	for _, t := range lethe.Distinct(request.Targets) {
		spelled, notSearched, err := scan.SpelledFingerprints(r.states.o.Secret, r.states.o.Limits.Normalise, t)
		if err != nil {
			return one, err
		}
		p := &one.fresh.Progress
		p.Fingerprints, p.NotSearched = append(p.Fingerprints, spelled...), sortedset.Add(p.NotSearched, notSearched...)
	}
	one.fresh.Signatures, err = r.states.signed.request(rec, one.fresh)
	return one, err
}

// enter stores requests in one write, rejects those with a taken id, and returns the others once each.
func (r *Requests) enter(list []submission, results *answers) (admitted []deletions.Entry, err error) {
	fresh := make([]deletions.Entry, len(list))
	for i, one := range list {
		fresh[i] = one.fresh
	}
	entries, errs, err := r.states.o.Ledger.TakeAll(fresh)
	if err != nil {
		return nil, err
	}
	for i, one := range list {
		e := entries[i]
		switch {
		case errors.Is(errs[i], deletions.ErrConflict):
			results.add(one.at, one.fresh.Refuse(deletions.RejectedConflict, one.cameAt))
			continue
		case errors.Is(errs[i], deletions.ErrRepeat):
			results.statuses = append(results.statuses, one.fresh.Repeat(e))
			if r.states.jobs.of(e.RequestID) != nil {
				results.refused[one.at] = true
				continue
			}
			// The log has lost the first record to this one with the same targets.
		case errs[i] != nil:
			return nil, errs[i]
		}
		if e.State != deletions.Rejected && e.State != deletions.Cancelled {
			r.states.jobs.put(one.job)
		}
		known := func(k deletions.Entry) bool { return k.RequestID == e.RequestID }
		if !slices.ContainsFunc(admitted, known) {
			admitted = append(admitted, e)
		}
	}
	return admitted, nil
}

// scopeOf returns a request's scope. One without gets the deployment's at first, for good.
func (r *Requests) scopeOf(request lethe.ErasureRequest, before []submission) (lethe.Scope, error) {
	if request.Scope != "" {
		return request.Scope, nil
	}
	for _, one := range before {
		if one.fresh.RequestID == request.RequestID {
			return one.fresh.Scope, nil
		}
	}
	known, err := r.states.o.Ledger.Get(request.RequestID)
	if errors.Is(err, deletions.ErrUnknownRequest) {
		return r.states.o.DefaultScope, nil
	}
	return known.Scope, err
}

// admit accepts or rejects received requests and suppresses their targets. Others only needed their targets.
func (r *Requests) admit(ctx context.Context, list []deletions.Entry) error {
	byState := make(map[deletions.State][]deletions.Entry)
	for _, e := range list {
		byState[e.State] = append(byState[e.State], e)
	}
	if rejected := byState[deletions.Rejected]; len(rejected) > 0 {
		// A crash may have prevented it.
		if err := r.states.out.announce(ctx, rejected...); err != nil {
			return err
		}
	}
	fresh, err := r.states.received(ctx, byState[deletions.Received])
	if err != nil {
		return err
	}
	accepted := byState[deletions.Accepted]
	for _, e := range append(fresh, list...) {
		if e.State != deletions.Received && !needsTargets(e) {
			r.states.jobs.drop(e.RequestID)
		}
	}
	for _, e := range fresh {
		if e.State == deletions.Accepted {
			accepted = append(accepted, e)
		}
	}
	return r.states.accepted(ctx, accepted)
}

// tidy tombstones the batch's records except requests whose targets are needed: unneeded ids must not stay in a
// topic. It rewrites the record of an open request that lost it to another of its key, for restarts.
func (r *Requests) tidy(ctx context.Context, batch bus.Batch, refused map[int]bool) error {
	var withdrawn []int
	restored := make(map[string]ingest.Outgoing)
	for i, rec := range batch.Records {
		j := r.states.jobs.of(string(rec.Key))
		control := !refused[i] && len(rec.Key) > 0 && rec.Key[0] == '!'
		dealtWith := control && !rec.Tombstone() && ingest.IsControl(rec.Key)
		switch {
		case dealtWith:
			withdrawn = append(withdrawn, i)
		case control, j == nil && rec.Tombstone():
		case j == nil:
			withdrawn = append(withdrawn, i)
		case refused[i] || rec.Tombstone():
			record, err := j.record(batch.Source.Partition)
			if err != nil {
				return err
			}
			restored[string(rec.Key)] = record
		default:
			delete(restored, string(rec.Key))
		}
	}
	for _, j := range r.states.jobs.list {
		if record, lost := restored[j.request.RequestID]; lost {
			if err := r.states.o.Bus.Write(ctx, bus.Erasures, []ingest.Outgoing{record}); err != nil {
				return fmt.Errorf("write a request again: %w", err)
			}
		}
	}
	return r.states.erased.Withdraw(ctx, batch, withdrawn)
}
