package coordinator

import (
	"context"
	"errors"
	"fmt"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
)

// Requests takes the requests of erasures.v1 into the ledger, and out of the topic
// when nobody needs them.
type Requests struct{ states *states }

// Take puts the requests of a batch into the ledger and suppresses their
// targets at once. The offset is committed when a request's targets are not
// needed any more, so that a restart reads them again.
func (r *Requests) Take(ctx context.Context, batch bus.Batch) error {
	r.states.dirty = true
	var letters []ingest.Outgoing
	refused := make(map[int]bool)
	for i, rec := range batch.Records {
		refusal, err := r.takeOne(ctx, rec, batch.Source)
		if refusal != nil {
			refused[i] = true
			if refusal, err = r.withhold(rec, refusal); err == nil {
				told := events.RecordDeadLettered{Topic: rec.Topic, Reason: string(refusal.Reason)}
				r.states.o.Listener.RecordDeadLettered(told)
				letters = append(letters, ingest.DeadLetter(rec, refusal, r.states.o.Version))
			}
		}
		if err != nil {
			return fmt.Errorf("%s@%d: %w", batch.Source, rec.Offset, err)
		}
	}
	if len(letters) > 0 {
		if err := r.states.o.Bus.Write(ctx, bus.DeadLetters, letters); err != nil {
			return fmt.Errorf("write %d dead letters: %w", len(letters), err)
		}
	}
	if err := r.tidy(ctx, batch, refused); err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	return r.states.jobs.commit(batch.Source, batch.Next)
}

// takeOne admits one request, or says why it is refused.
func (r *Requests) takeOne(
	ctx context.Context, rec ingest.Record, source bus.TopicPartition,
) (*ingest.Refusal, error) {
	event, err := ingest.DecodeErasure(rec, r.states.o.Limits)
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
	if request.Scope == "" {
		request.Scope = r.states.o.DefaultScope
	}
	e, err := r.states.o.Ledger.Receive(r.states.o.Secret, request.ErasureRequest)
	switch {
	case errors.Is(err, deletions.ErrConflict):
		return &ingest.Refusal{Reason: ingest.ContentConflict, Detail: "another request has this request_id"}, nil
	case errors.Is(err, deletions.ErrRequest):
		return &ingest.Refusal{Reason: ingest.BadRequestID, Detail: "the request_id holds an id that is to be erased"}, nil
	case err != nil:
		return nil, err
	}
	return nil, r.admit(ctx, e, job{
		request: request.ErasureRequest, requestedAt: request.RequestedAt, source: source, next: rec.Offset + 1,
	})
}

// admit accepts or rejects a request that was received and suppresses its
// targets. A request that is further on already only needs its targets again.
func (r *Requests) admit(ctx context.Context, e deletions.Entry, j job) (err error) {
	if e.State == deletions.Rejected {
		_, err := r.states.rejected(ctx, e)
		return err
	}
	r.states.jobs.list = append(r.states.jobs.list, j)
	for e.State == deletions.Received || e.State == deletions.Accepted {
		if e, err = r.states.steps[e.State](ctx, e); err != nil {
			return fmt.Errorf("request %s: %w", j.request.RequestID, err)
		}
	}
	if !needsTargets(e) {
		r.states.jobs.drop(e.RequestID)
	}
	return nil
}

// withhold keeps the bytes of a refused request that names something erased out
// of its dead letter.
func (r *Requests) withhold(rec ingest.Record, refusal *ingest.Refusal) (*ingest.Refusal, error) {
	erased, err := r.states.erased.Names(rec)
	if !erased {
		return refusal, err
	}
	return &ingest.Refusal{Reason: ingest.Suppressed, Detail: "a request refused as " + string(refusal.Reason)}, nil
}

// tidy leaves in erasures.v1 those requests of a batch whose targets are still
// needed, and withdraws all others: ids that nobody needs must not stay in a topic,
// and above all not those of a request that came too late because they are erased
// already. A request under way that lost its record to another under the
// same key is written again, for a restart reads the targets there.
func (r *Requests) tidy(ctx context.Context, batch bus.Batch, refused map[int]bool) error {
	var withdrawn []int
	restored := make(map[string]ingest.Outgoing)
	for i, rec := range batch.Records {
		j := r.states.jobs.of(string(rec.Key))
		control := !refused[i] && len(rec.Key) > 0 && rec.Key[0] == '!'
		switch {
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
