package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
)

// job is a request whose targets are still needed. They are in memory and in
// erasures.v1, nowhere else.
type job struct {
	request     lethe.ErasureRequest
	requestedAt time.Time
	source      bus.TopicPartition
	// next is the offset to commit once the targets are not needed any more.
	next int64
}

// TakeRequests puts the requests of a batch into the ledger and suppresses their
// targets at once. The offset is committed when a request's targets are not
// needed any more, so that a restart reads them again.
func (c *Coordinator) TakeRequests(ctx context.Context, batch bus.Batch) error {
	c.dirty = true
	var letters []ingest.Outgoing
	refused := make(map[int]bool)
	for i, rec := range batch.Records {
		refusal, err := c.takeRequest(ctx, rec, batch.Source)
		if refusal != nil {
			refused[i] = true
			if refusal, err = c.withhold(rec, refusal); err == nil {
				c.o.Listener.RecordDeadLettered(events.RecordDeadLettered{Topic: rec.Topic, Reason: string(refusal.Reason)})
				letters = append(letters, ingest.DeadLetter(rec, refusal, c.o.Version))
			}
		}
		if err != nil {
			return fmt.Errorf("%s@%d: %w", batch.Source, rec.Offset, err)
		}
	}
	if len(letters) > 0 {
		if err := c.o.Bus.Write(ctx, bus.DeadLetters, letters); err != nil {
			return fmt.Errorf("write %d dead letters: %w", len(letters), err)
		}
	}
	if err := c.tidyRequests(ctx, batch, refused); err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	return c.commit(batch.Source, batch.Next)
}

// takeRequest admits one request, or says why it is refused.
func (c *Coordinator) takeRequest(
	ctx context.Context, rec ingest.Record, source bus.TopicPartition,
) (*ingest.Refusal, error) {
	event, err := ingest.DecodeErasure(rec, c.o.Limits)
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
	e, err := c.ledger.Receive(c.o.Secret, request.ErasureRequest)
	switch {
	case errors.Is(err, deletions.ErrConflict):
		return &ingest.Refusal{Reason: ingest.ContentConflict, Detail: "another request has this request_id"}, nil
	case errors.Is(err, deletions.ErrRequest):
		return &ingest.Refusal{Reason: ingest.BadRequestID, Detail: "the request_id holds an id that is to be erased"}, nil
	case err != nil:
		return nil, err
	}
	return nil, c.admit(ctx, e, job{
		request: request.ErasureRequest, requestedAt: request.RequestedAt, source: source, next: rec.Offset + 1,
	})
}

// admit accepts or rejects a request that was received and suppresses its
// targets. A request that is further on already only needs its targets again.
func (c *Coordinator) admit(ctx context.Context, e deletions.Entry, j job) (err error) {
	if e.State == deletions.Rejected {
		_, err := c.rejected(ctx, e)
		return err
	}
	c.jobs = append(c.jobs, j)
	for e.State == deletions.Received || e.State == deletions.Accepted {
		if e, err = c.steps[e.State](ctx, e); err != nil {
			return fmt.Errorf("request %s: %w", j.request.RequestID, err)
		}
	}
	if !needsTargets(e) {
		c.dropJob(e.RequestID)
	}
	return nil
}

// needsTargets reports whether a request's records are still to be rewritten.
func needsTargets(e deletions.Entry) bool {
	state := e.State
	if state == deletions.Failed {
		state = e.FailedIn
	}
	return state == deletions.Accepted || state == deletions.Suppressed || state == deletions.Rewriting
}

// withhold keeps the bytes of a refused request that names something erased out
// of its dead letter.
func (c *Coordinator) withhold(rec ingest.Record, refusal *ingest.Refusal) (*ingest.Refusal, error) {
	erased, err := c.erased.names(rec)
	if !erased {
		return refusal, err
	}
	return &ingest.Refusal{Reason: ingest.Suppressed, Detail: "a request refused as " + string(refusal.Reason)}, nil
}

// commit stores how far erasures.v1 has been dealt with, but never past a request
// whose targets are still needed.
func (c *Coordinator) commit(source bus.TopicPartition, next int64) error {
	for _, j := range c.jobs {
		next = min(next, j.next-1)
	}
	return c.o.Notes.Commit(source, next)
}

// tidyRequests sees to it that erasures.v1 holds the requests of a batch whose
// targets are still needed, and no other: ids that nobody needs must not stay in
// a topic, least of all those of a request that came too late because they are
// erased already. A request under way that lost its record to another under the
// same key is written again, for a restart reads the targets there.
func (c *Coordinator) tidyRequests(ctx context.Context, batch bus.Batch, refused map[int]bool) error {
	var withdrawn []int
	restored := make(map[string]ingest.Outgoing)
	for i, rec := range batch.Records {
		j := c.job(string(rec.Key))
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
	for _, j := range c.jobs {
		if record, lost := restored[j.request.RequestID]; lost {
			if err := c.o.Bus.Write(ctx, bus.Erasures, []ingest.Outgoing{record}); err != nil {
				return fmt.Errorf("write a request again: %w", err)
			}
		}
	}
	return c.Withdraw(ctx, batch, withdrawn)
}

// record is the request as it stands in erasures.v1.
func (j *job) record(partition int) (ingest.Outgoing, error) {
	key, value, err := ingest.EncodeErasure(j.request, j.requestedAt)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("request %s: %w", j.request.RequestID, err)
	}
	return ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: partition}, nil
}

func (c *Coordinator) job(requestID string) *job {
	for i := range c.jobs {
		if c.jobs[i].request.RequestID == requestID {
			return &c.jobs[i]
		}
	}
	return nil
}

func (c *Coordinator) dropJob(requestID string) {
	c.jobs = slices.DeleteFunc(c.jobs, func(j job) bool { return j.request.RequestID == requestID })
}
