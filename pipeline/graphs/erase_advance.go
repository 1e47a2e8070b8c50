package graphs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// acknowledged is what the other roles said of a request.
type acknowledged struct {
	// byStep holds the newest acknowledgement of each role and step.
	byStep map[roleStep]deletions.Ack
}

type roleStep struct {
	role string
	step deletions.Step
}

// The roles whose acknowledgements are waited for.
const (
	trainRole = "train"
	scoreRole = "score"
)

// takeAcks notes what the other roles acknowledged.
func (r *Role) takeAcks(batch bus.Batch) error {
	for _, rec := range batch.Records {
		n, err := wire.ParseNotice(rec)
		if err != nil {
			return err
		}
		if n.Ack == nil {
			continue
		}
		known := r.acks[n.Ack.RequestID]
		if known == nil {
			known = &acknowledged{byStep: make(map[roleStep]deletions.Ack)}
			r.acks[n.Ack.RequestID] = known
		}
		known.byStep[roleStep{n.Ack.Role, n.Ack.Step}] = *n.Ack
	}
	return nil
}

// ack returns a role's acknowledgement of the request's present attempt.
func (r *Role) ack(e deletions.Entry, role string, step deletions.Step) (deletions.Ack, bool) {
	known := r.acks[e.RequestID]
	if known == nil {
		return deletions.Ack{}, false
	}
	a, ok := known.byStep[roleStep{role, step}]
	return a, ok && a.Attempt >= e.Attempts
}

// advanceErasures takes the oldest open request as far as it can go. Requests
// are carried out one after the other; all are suppressed at once.
func (r *Role) advanceErasures(ctx context.Context) error {
	open, err := r.ledger.Open()
	if err != nil {
		return err
	}
	oldest := events.ErasuresOpen{Count: len(open)}
	if len(open) > 0 {
		oldest.OldestReceived = open[0].Received()
	}
	r.o.Listener.ErasuresOpen(oldest)
	for _, e := range open {
		for {
			next, err := r.stepOnce(ctx, e)
			if err != nil {
				return fmt.Errorf("request %s in state %s: %w", e.RequestID, e.State, err)
			}
			if next.State == e.State && next.Attempts == e.Attempts {
				break
			}
			e = next
		}
		// One that failed is tried again later and keeps no other waiting.
		if !e.State.Final() && e.State != deletions.Failed {
			return nil
		}
	}
	return nil
}

// stepOnce does the step that the request's state announces, if it can be done
// now, and returns the entry as it is then.
func (r *Role) stepOnce(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	switch e.State {
	case deletions.Suppressed:
		// Score answers with the ensemble it serves, which the receipt names.
		before, ok := r.ack(e, scoreRole, deletions.StepSuppressed)
		if !ok || r.jobFor(e.RequestID) == nil {
			return e, nil
		}
		return r.move(ctx, e, deletions.Rewriting, func(p *deletions.Progress) { p.EnsembleBefore = before.Ensemble })
	case deletions.Rewriting:
		return r.rewrite(ctx, e)
	case deletions.Retraining:
		return r.awaitRetrained(ctx, e)
	case deletions.Swapped:
		return r.withdraw(ctx, e)
	case deletions.Verifying:
		return e, r.startVerifying(ctx, e)
	case deletions.Failed:
		return r.retry(ctx, e)
	default:
		return e, nil
	}
}

// move makes a transition and announces it.
func (r *Role) move(ctx context.Context, e deletions.Entry, to deletions.State, update func(*deletions.Progress)) (deletions.Entry, error) {
	e, err := r.ledger.Transition(e.RequestID, to, update)
	if err != nil {
		return e, err
	}
	return e, r.announce(ctx, e)
}

func (r *Role) jobFor(requestID string) *job {
	for i := range r.jobs {
		if r.jobs[i].request.RequestID == requestID {
			return &r.jobs[i]
		}
	}
	return nil
}

// awaitRetrained moves on once every affected shard was trained again and the
// ensemble that fits is served.
func (r *Role) awaitRetrained(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	purged, ok := r.ack(e, trainRole, deletions.StepPurged)
	if !ok {
		return e, nil
	}
	for _, shard := range e.Progress.Retrained {
		if !slices.Contains(purged.Shards, shard) {
			return e, nil
		}
	}
	swapped, ok := r.ack(e, scoreRole, deletions.StepSwapped)
	if !ok {
		return e, nil
	}
	r.phaseDone(e, events.Retrain, deletions.Retraining)
	return r.move(ctx, e, deletions.Swapped, func(p *deletions.Progress) { p.EnsembleAfter = swapped.Ensemble })
}

// withdraw deletes the predictions of the erased transactions, now that score
// has acknowledged that no further one leaves, and the request itself.
func (r *Role) withdraw(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	predictions, err := r.sweep(ctx, e, bus.Predictions)
	if err != nil {
		return e, err
	}
	if err := r.o.Client.Write(ctx, bus.Erasures, []ingest.Outgoing{{Key: []byte(e.RequestID)}}); err != nil {
		return e, fmt.Errorf("purge the request: %w", err)
	}
	r.phaseDone(e, events.Swap, deletions.Swapped)
	return r.move(ctx, e, deletions.Verifying, func(p *deletions.Progress) {
		p.Counts.Predictions = max(p.Counts.Predictions, predictions)
	})
}

// sweep writes a tombstone for every record of the topics that holds one of the
// request's fingerprints, in its key, value or headers, and returns how many.
func (r *Role) sweep(ctx context.Context, e deletions.Entry, topics ...bus.Topic) (int, error) {
	scanner, err := scan.NewScanner(r.o.Secret, e.Progress.Fingerprints)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, topic := range topics {
		var tombstones []ingest.Outgoing
		err := r.o.Client.ReadAll(ctx, topic, func(rec ingest.Record) error {
			if rec.Tombstone() || len(rec.Key) == 0 {
				return nil
			}
			if !holds(scanner, rec) {
				return nil
			}
			tombstones = append(tombstones, ingest.Outgoing{
				Key: append([]byte(nil), rec.Key...), Pinned: true, Partition: rec.Partition,
			})
			return nil
		})
		if err == nil && len(tombstones) > 0 {
			err = r.o.Client.Write(ctx, topic, tombstones)
		}
		if err != nil {
			return total, fmt.Errorf("withdraw records of %s: %w", topic, err)
		}
		total += len(tombstones)
	}
	return total, nil
}

// retry goes back to the step that failed. Verification is asked for anew, with
// a new attempt number, so that the other roles search again.
func (r *Role) retry(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	if r.o.Clock().Sub(e.Updated()) < retryDelay(e.Attempts) {
		return e, nil
	}
	e, err := r.ledger.Retry(e.RequestID)
	if err != nil {
		return e, err
	}
	if err := r.announce(ctx, e); err != nil {
		return e, err
	}
	return e, r.order(ctx, e, wire.PhasePurge)
}

// retryDelay doubles from a second to a minute.
func retryDelay(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 6), time.Minute)
}

// fail records why a step did not succeed. It is tried again.
func (r *Role) fail(ctx context.Context, e deletions.Entry, code deletions.FailureCode) error {
	e, err := r.ledger.Stop(e.RequestID, deletions.Failed, code)
	if err != nil {
		return err
	}
	return r.announce(ctx, e)
}

// phaseDone tells the listener how long a request has been in a phase.
func (r *Role) phaseDone(e deletions.Entry, phase events.ErasurePhase, since deletions.State) {
	for _, change := range slices.Backward(e.History) {
		if change.State == since {
			r.o.Listener.ErasurePhaseDone(events.ErasurePhaseDone{Phase: phase, Duration: r.o.Clock().Sub(change.At)})
			return
		}
	}
}
