package coordinator

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"

	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// outbox publishes states, commands and dead letters.
type outbox struct {
	Options
	entered entered
}

// announce publishes statuses and copies of entries.
func (o *outbox) announce(ctx context.Context, list ...deletions.Entry) error {
	return o.copy(ctx, list, true)
}

func (o *outbox) copies(ctx context.Context, list []deletions.Entry) error {
	return o.copy(ctx, list, false)
}

func (o *outbox) copy(ctx context.Context, list []deletions.Entry, statuses bool) error {
	var records []ingest.Outgoing
	for _, e := range list {
		copied, err := ledgercopy.Records(e)
		if err != nil {
			return err
		}
		if records = append(records, copied...); !statuses {
			continue
		}
		status, err := o.record(e.Status())
		if err != nil {
			return err
		}
		records = append(records, status)
	}
	return wire.PublishRecords(ctx, o.Bus, records)
}

// handOver is copies if there are standbys, before data is removed from which they could derive the entries.
func (o *outbox) handOver(ctx context.Context, list []deletions.Entry) error {
	if o.Instance == "" || len(list) == 0 {
		return nil
	}
	return o.copies(ctx, list)
}

// publish publishes statuses.
func (o *outbox) publish(ctx context.Context, list []deletions.Status) error {
	records := make([]ingest.Outgoing, len(list))
	for i, status := range list {
		var err error
		if records[i], err = o.record(status); err != nil {
			return err
		}
	}
	return wire.PublishRecords(ctx, o.Bus, records)
}

// letter is a refused record.
type letter struct {
	rec     ingest.Record
	refusal *ingest.Refusal
}

// deadLetter publishes dead letters without the records' content.
func (o *outbox) deadLetter(ctx context.Context, list []letter) error {
	letters := make([]ingest.Outgoing, len(list))
	for i, one := range list {
		o.Listener(events.RecordDeadLettered{
			Topic: one.rec.Topic, Reason: string(one.refusal.Reason),
		})
		letters[i] = ingest.WithheldLetter(one.rec, one.refusal, o.Version)
	}
	if len(letters) == 0 {
		return nil
	}
	if err := o.Bus.Write(ctx, bus.DeadLetters, letters); err != nil {
		return fmt.Errorf("write %d dead letters: %w", len(letters), err)
	}
	var answers []ingest.Outgoing
	for _, one := range list {
		answer, is, err := wire.RefusedControl(one.rec, one.refusal)
		if err != nil {
			return err
		}
		if is {
			answers = append(answers, answer)
		}
	}
	answers, err := wire.SignAnswers(answers, o.SigningKey)
	if err != nil {
		return err
	}
	return wire.PublishRecords(ctx, o.Bus, answers)
}

// PublishHolds publishes holds, signed with the key of receipts.
func PublishHolds(ctx context.Context, to wire.Publisher, key ed25519.PrivateKey, holds ...deletions.Hold) (err error) {
	records := make([]ingest.Outgoing, len(holds))
	for i, hold := range holds {
		if records[i], err = ledgercopy.HoldRecord(hold); err != nil {
			return err
		}
	}
	if records, err = wire.SignAnswers(records, key); err != nil {
		return err
	}
	return wire.PublishRecords(ctx, to, records)
}

// record is a status's record. It notifies the listener of a new state.
func (o *outbox) record(status deletions.Status) (ingest.Outgoing, error) {
	if o.entered.add(&status) {
		o.Listener(events.ErasureChanged{
			Trace: events.TraceOfErasure(o.Secret, status.RequestID), State: string(status.State),
			Elapsed: status.UpdatedAt.Sub(status.ReceivedAt), Result: string(status.Result()),
		})
	}
	return wire.StatusRecord(status, o.SigningKey)
}

// entered has the last state of each open request and its time.
type entered map[string]deletions.Change

// add reports whether the state is new since the last status.
func (n entered) add(s *deletions.Status) bool {
	last, now := n[s.Key()], deletions.Change{State: s.State, At: s.UpdatedAt}
	if s.State.Final() {
		delete(n, s.Key())
	} else {
		n[s.Key()] = now
	}
	return last.State != now.State || !last.At.Equal(now.At)
}

// purge deletes requests from erasures.v1: their targets are no longer needed.
func (o *outbox) purge(ctx context.Context, requestIDs ...string) error {
	tombstones := make([]ingest.Outgoing, len(requestIDs))
	for i, id := range requestIDs {
		tombstones[i].Key = []byte(id)
	}
	if err := o.Bus.Write(ctx, bus.Erasures, tombstones); err != nil {
		return fmt.Errorf("purge %d requests: %w", len(tombstones), err)
	}
	return nil
}

// answered notifies the listener of a step acknowledged for open requests, again after a restart.
func (o *outbox) answered(ack deletions.Ack) error {
	answered, err := o.Ledger.Where(func(e *deletions.Entry) bool {
		return !e.State.Final() && ack.Attempt >= e.Attempts &&
			(e.RequestID == ack.RequestID || batch.Begun(*e) && e.Leader() == ack.RequestID)
	})
	if err != nil {
		return err
	}
	for _, e := range answered {
		o.Listener(events.ErasureAnswered{
			Trace: events.TraceOfErasure(o.Secret, e.RequestID), Role: ack.Role, Instance: ack.Instance, Step: string(ack.Step),
			Duration: max(0, o.Clock.Now().Sub(e.Updated())),
		})
	}
	return nil
}

// phaseDone reports to the listener how long each request was in a phase.
func (o *outbox) phaseDone(b batch.Batch, phase events.ErasurePhase, since deletions.State) {
	now := o.Clock.Now()
	for _, e := range b.Members {
		for _, change := range slices.Backward(e.History) {
			if change.State == since {
				o.Listener(events.ErasurePhaseDone{
					Trace: events.TraceOfErasure(o.Secret, e.RequestID), Phase: phase, Duration: max(0, now.Sub(change.At)),
				})
				break
			}
		}
	}
}
