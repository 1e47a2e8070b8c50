package graphs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/partition/onehop"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// job is a request whose ids are still needed. The ids are in memory and in
// erasures.v1, nowhere else.
type job struct {
	request     lethe.ErasureRequest
	nodes       []lethe.TransactionID
	requestedAt time.Time
	source      bus.TopicPartition
	// next is the offset to commit once the ids are not needed any more.
	next int64
}

// takeRequests puts the requests of a batch into the ledger and suppresses
// their subjects at once. The offset is committed when a request's ids are not
// needed any more, so that a restart reads them again.
func (r *Role) takeRequests(ctx context.Context, batch bus.Batch) error {
	var letters []ingest.Outgoing
	refused := make(map[int]bool)
	for i, rec := range batch.Records {
		refusal, err := r.takeRequest(ctx, rec, batch.Source)
		if refusal != nil {
			refused[i] = true
			refusal, err = r.withhold(rec, refusal)
			letters = append(letters, r.deadLetter(rec, refusal))
		}
		if err != nil {
			return fmt.Errorf("%s@%d: %w", batch.Source, rec.Offset, err)
		}
	}
	if err := r.writeLetters(ctx, letters); err != nil {
		return err
	}
	if err := r.tidyRequests(ctx, batch, refused); err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	return r.commitRequests(batch.Source, batch.Next)
}

// commitRequests stores how far erasures.v1 has been dealt with, but never past
// a request whose ids are still needed.
func (r *Role) commitRequests(source bus.TopicPartition, next int64) error {
	for _, j := range r.jobs {
		next = min(next, j.next-1)
	}
	tx, err := r.store.Begin(snapshot.Source{Stream: snapshot.NoStream, Topic: string(source.Topic), Partition: source.Partition})
	if err != nil {
		return err
	}
	return tx.Commit(next)
}

func (r *Role) takeRequest(ctx context.Context, rec ingest.Record, source bus.TopicPartition) (*ingest.Refusal, error) {
	event, err := ingest.DecodeErasure(rec, r.o.Limits)
	var refusal *ingest.Refusal
	if errors.As(err, &refusal) {
		return refusal, nil
	}
	if err != nil {
		return nil, err
	}
	request, ok := event.(ingest.Erasure)
	if !ok {
		return nil, nil
	}
	entry, err := r.ledger.Receive(r.o.Secret, request.ErasureRequest)
	switch {
	case errors.Is(err, deletions.ErrConflict):
		return &ingest.Refusal{Reason: ingest.ContentConflict, Detail: "another request has this request_id"}, nil
	case errors.Is(err, deletions.ErrRequest):
		return &ingest.Refusal{Reason: ingest.BadRequestID, Detail: "the request_id holds an id that is to be erased"}, nil
	case err != nil:
		return nil, err
	}
	nodes, err := lethe.TransactionsOf(request.Targets)
	if err != nil {
		return nil, err
	}
	return nil, r.admit(ctx, entry, job{
		request: request.ErasureRequest, nodes: nodes, requestedAt: request.RequestedAt, source: source, next: rec.Offset + 1,
	})
}

// withhold keeps the bytes of a refused request that names an erased
// transaction out of its dead letter.
func (r *Role) withhold(rec ingest.Record, refusal *ingest.Refusal) (*ingest.Refusal, error) {
	erased, err := r.namesErased(rec)
	if !erased {
		return refusal, err
	}
	return &ingest.Refusal{Reason: ingest.Suppressed, Detail: "a request refused as " + string(refusal.Reason)}, nil
}

// admit accepts or rejects a request that was received and suppresses its
// subjects. A request that is further on already only needs its ids again.
func (r *Role) admit(ctx context.Context, entry deletions.Entry, j job) error {
	id := entry.RequestID
	var err error
	if entry.State == deletions.Rejected {
		// It comes again: a crash may have prevented the announcement.
		return r.announce(ctx, entry)
	}
	if entry.State == deletions.Received {
		if err := r.announce(ctx, entry); err != nil {
			return err
		}
		reason, err := r.objection(entry, j.nodes)
		if err != nil {
			return err
		}
		if reason == deletions.NoFailure {
			entry, err = r.ledger.Transition(id, deletions.Accepted, nil)
		} else {
			entry, err = r.ledger.Stop(id, deletions.Rejected, reason)
		}
		if err != nil {
			return err
		}
		if err := r.announce(ctx, entry); err != nil {
			return err
		}
	}
	if entry.State == deletions.Accepted {
		if err := r.store.Suppress(j.nodes); err != nil {
			return fmt.Errorf("request %s: suppress: %w", id, err)
		}
		if entry, err = r.ledger.Transition(id, deletions.Suppressed, nil); err != nil {
			return err
		}
		r.erased = nil
		if err := r.order(ctx, entry, wire.PhaseSuppress); err != nil {
			return err
		}
		if err := r.announce(ctx, entry); err != nil {
			return err
		}
		r.phaseDone(entry, events.Suppress, deletions.Received)
	}
	if needsIDs(entry) {
		r.jobs = append(r.jobs, j)
	}
	return nil
}

// objection says why a received request cannot be carried out, or NoFailure.
func (r *Role) objection(entry deletions.Entry, ids []lethe.TransactionID) (deletions.FailureCode, error) {
	if r.o.Repair.OneHop != onehop.None && entry.Scope == lethe.ScopeShard {
		// Rows of other shards hold a mean of the erased one, and this scope
		// would leave them as they are.
		r.o.Logger.Warn("erasure rejected: with one-hop features scope shard is not exact, ask for scope stubs", "request_id", entry.RequestID)
		return deletions.RejectedScope, nil
	}
	unknown, err := r.unknown(ids)
	if err != nil || unknown == 0 {
		return deletions.NoFailure, err
	}
	r.o.Logger.Warn("erasure rejected: transactions are unknown", "request_id", entry.RequestID, "unknown", unknown, "named", len(ids))
	return deletions.RejectedUnknown, nil
}

// unknown counts the ids that no timestep holds. One that another request is
// erasing counts as gone: the answer must not depend on how far that has got.
func (r *Role) unknown(ids []lethe.TransactionID) (int, error) {
	located, err := r.store.Locate(ids)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, l := range located {
		if !l.Known || r.store.IsSuppressed(l.ID) {
			n++
		}
	}
	return n, nil
}

// needsIDs reports whether a request's records are still to be rewritten.
func needsIDs(e deletions.Entry) bool {
	state := e.State
	if state == deletions.Failed {
		state = e.FailedIn
	}
	return state == deletions.Accepted || state == deletions.Suppressed || state == deletions.Rewriting
}

// announce publishes a request's state.
func (r *Role) announce(ctx context.Context, entry deletions.Entry) error {
	status := entry.Status()
	value, err := status.Encode()
	if err != nil {
		return err
	}
	r.o.Listener.ErasureChanged(events.ErasureChanged{State: string(entry.State)})
	return r.o.Client.Write(ctx, bus.ErasureStatus, []ingest.Outgoing{{Key: []byte(entry.RequestID), Value: value}})
}

// order asks the other roles to do their part.
func (r *Role) order(ctx context.Context, entry deletions.Entry, phase wire.Phase) error {
	o := &wire.Order{
		RequestID: entry.RequestID, Attempt: entry.Attempts, Phase: phase,
		Suppressed: entry.Targets, Fingerprints: entry.Progress.Fingerprints,
	}
	if phase == wire.PhasePurge {
		o.Steps = r.orderSteps(entry)
	}
	record, err := o.Record()
	if err != nil {
		return err
	}
	return r.o.Client.Write(ctx, bus.ErasureStatus, []ingest.Outgoing{record})
}

// orderSteps lists what the erasure rewrote, with the revisions that no longer
// hold the records. Revisions only grow, so those of now will do.
func (r *Role) orderSteps(entry deletions.Entry) []wire.OrderStep {
	infos := make(map[lethe.Timestep]snapshot.Info)
	for _, info := range r.store.Timesteps() {
		infos[info.Timestep] = info
	}
	var steps []wire.OrderStep
	for _, t := range entry.Progress.Timesteps {
		info := infos[t]
		if info.State == lethe.Open || info.Revision == 0 {
			continue
		}
		step := wire.OrderStep{Timestep: t, Revision: info.Revision, Settled: info.State == lethe.Settled, Shards: []lethe.ShardID{}}
		for _, s := range entry.Progress.Slices {
			if s.Timestep == t {
				step.Shards = append(step.Shards, s.Shard)
			}
		}
		steps = append(steps, step)
	}
	return steps
}
