package coordinator

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
)

// Requests reads the requests of erasures.v1 and deletes their records when no longer needed.
type Requests struct{ *states }

// Take stores the requests of a batch and suppresses their targets. Offsets are committed once targets are not
// needed, so that a restart reads them again.
func (r *Requests) Take(ctx context.Context, records bus.Batch) error {
	r.dirty = true
	in := &intake{core: r.core, signed: r.signed, source: records.Source, refused: make(map[int]bool)}
	for i, rec := range records.Records {
		if err := in.add(i, rec); err != nil {
			return err
		}
	}
	if err := r.process(ctx, in); err != nil {
		return fmt.Errorf("%s up to %d: %w", records.Source, records.Next, err)
	}
	if err := r.tidy(ctx, records, in.refused); err != nil {
		return fmt.Errorf("%s: %w", records.Source, err)
	}
	if err := r.jobs.commit(records.Source, records.Next); err != nil {
		return err
	}
	if n := in.count(); n > 0 {
		r.o.Listener(events.RecordsConsumed{
			Topic: string(bus.Erasures), Result: events.Accepted, Count: n,
		})
	}
	return nil
}

func (r *Requests) process(ctx context.Context, in *intake) error {
	admitted, err := in.enter()
	if err != nil {
		return err
	}
	if err := r.out.publish(ctx, in.statuses); err != nil {
		return err
	}
	// Holds of the batch come before acceptance.
	if err := r.holds.take(ctx, in.holds); err != nil {
		return err
	}
	if err := r.admit(ctx, admitted); err != nil {
		return err
	}
	if err := r.cancelled.take(ctx, in.cancelled); err != nil {
		return err
	}
	same, err := r.holds.approve(ctx, in.approved)
	if err != nil {
		return err
	}
	return r.out.deadLetter(ctx, append(in.letters, same...))
}

// admit accepts or rejects received requests and suppresses their targets. Others only needed their targets.
func (r *Requests) admit(ctx context.Context, list []deletions.Entry) error {
	byState := make(map[deletions.State][]deletions.Entry)
	for _, e := range list {
		byState[e.State] = append(byState[e.State], e)
	}
	if rejected := byState[deletions.Rejected]; len(rejected) > 0 {
		// A crash may have prevented it.
		if err := r.out.announce(ctx, rejected...); err != nil {
			return err
		}
	}
	fresh, err := r.received(ctx, byState[deletions.Received])
	if err != nil {
		return err
	}
	accepted := byState[deletions.Accepted]
	for _, e := range append(fresh, list...) {
		// Records are rewritten, by this process or a standby, or tombstoned while targets are needed.
		if e.State != deletions.Received && (e.Stage() == deletions.Received || batch.IsPurged(e)) {
			r.jobs.drop(e.RequestID)
		}
	}
	for _, e := range fresh {
		if e.State == deletions.Accepted {
			accepted = append(accepted, e)
		}
	}
	return r.accepted(ctx, accepted)
}

// received accepts, rejects or holds new requests, and returns them as they are afterwards.
func (r *Requests) received(ctx context.Context, list []deletions.Entry) (out []deletions.Entry, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	if err := r.out.announce(ctx, list...); err != nil {
		return nil, err
	}
	if list, err = r.cancelled.orphans(ctx, list); err != nil {
		return nil, err
	}
	kept, err := r.holds.kept()
	if err != nil {
		return nil, err
	}
	if list, err = (subjects{r.core}).found(list); err != nil {
		return nil, err
	}
	var narrow, fine batch.Batch
	var held waiting
	for _, e := range list {
		own, waits, err := r.holds.waits(e, kept)
		if err != nil {
			return nil, err
		}
		switch {
		case r.o.rejects(e.Scope):
			// Rows of other shards hold a mean of the erased one, which this scope would keep.
			r.o.Logger.Warn("erasure rejected: with one-hop features scope shard is not exact, ask for scope stubs",
				"request_id", e.RequestID)
			narrow.Members = append(narrow.Members, e)
		case waits:
			held.add(e, own)
		default:
			fine.Members = append(fine.Members, e)
		}
	}
	if len(narrow.Members) > 0 {
		if narrow, err = r.stop(ctx, narrow, deletions.Rejected, deletions.RejectedScope); err != nil {
			return nil, err
		}
	}
	if len(fine.Members) > 0 {
		found := fine.Members
		fine, err = r.move(ctx, fine, deletions.Accepted, func(i int, e *deletions.Entry) { e.Found(&found[i]) })
		if err != nil {
			return nil, err
		}
	}
	now, err := r.holds.wait(ctx, held)
	if err != nil {
		return nil, err
	}
	return slices.Concat(narrow.Members, now, fine.Members), nil
}

func (o *Options) rejects(scope lethe.Scope) bool { return o.OneHop && scope == lethe.ScopeShard }

// accepted suppresses the targets here and commands score to, then waits for score's acknowledgement, which has the
// ensemble served at that time for the receipt. After a crash, requests wait until their targets are read again.
func (r *Requests) accepted(ctx context.Context, list []deletions.Entry) error {
	var uncommanded []deletions.Entry
	var answered batch.Batch
	before := make(map[string]deletions.Ack)
	for _, e := range list {
		if r.jobs.of(e.RequestID) == nil {
			continue
		}
		if !r.commanded[e.RequestID] {
			uncommanded = append(uncommanded, e)
		}
		if ack, ok := r.acks.Shown(e.RequestID, e.Attempts, deletions.StepSuppressed); ok {
			answered.Members = append(answered.Members, e)
			before[e.RequestID] = ack
		}
	}
	if len(uncommanded) > 0 {
		if err := (subjects{r.core}).suppress(ctx, uncommanded); err != nil {
			return fmt.Errorf("suppress the targets of %d requests: %w", len(uncommanded), err)
		}
		for _, e := range uncommanded {
			r.commanded[e.RequestID] = true
		}
	}
	if len(answered.Members) == 0 {
		return nil
	}
	for _, id := range answered.IDs() {
		delete(r.commanded, id)
	}
	r.out.phaseDone(answered, events.Suppress, deletions.Received)
	_, err := r.move(ctx, answered, deletions.Suppressed, func(_ int, e *deletions.Entry) {
		e.Progress.EnsembleBefore = before[e.RequestID].Ensemble
		e.Progress.Checkpoints.Before = before[e.RequestID].Models
	})
	return err
}

// tidy tombstones the batch's records except requests whose targets are needed: unneeded ids must not stay in a
// topic. It rewrites the record of an open request that lost it to another of its key, for restarts.
func (r *Requests) tidy(ctx context.Context, records bus.Batch, refused map[int]bool) error {
	var withdrawn []int
	restored := make(map[string]ingest.Outgoing)
	for i, rec := range records.Records {
		j := r.jobs.of(string(rec.Key))
		control := !refused[i] && len(rec.Key) > 0 && rec.Key[0] == '!'
		switch {
		case control && !rec.Tombstone() && ingest.IsControl(rec.Key): // it was processed
			withdrawn = append(withdrawn, i)
		case control, j == nil && rec.Tombstone():
		case j == nil:
			withdrawn = append(withdrawn, i)
		case refused[i] || rec.Tombstone():
			record, err := j.record(records.Source.Partition)
			if err != nil {
				return err
			}
			restored[string(rec.Key)] = record
		default:
			delete(restored, string(rec.Key))
		}
	}
	for _, j := range r.jobs.list {
		if record, lost := restored[j.request.RequestID]; lost {
			if err := r.o.Bus.Write(ctx, bus.Erasures, []ingest.Outgoing{record}); err != nil {
				return fmt.Errorf("write a request again: %w", err)
			}
		}
	}
	return r.records.Withdraw(ctx, records, withdrawn)
}
