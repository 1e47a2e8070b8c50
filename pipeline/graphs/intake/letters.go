package intake

import (
	"context"
	"fmt"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/snapshot"
)

// Letters writes dead letters.
type Letters struct {
	Store *snapshot.Store
	// Write publishes records.
	Write    func(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
	Version  string
	Listener events.Listener
}

// refused returns the dead letter of a record that was rejected when it was read.
func (l Letters) refused(rec ingest.Record, refusal *ingest.Refusal) ingest.Outgoing {
	l.note(rec, refusal)
	return ingest.DeadLetter(rec, refusal, l.Version)
}

func (l Letters) note(rec ingest.Record, refusal *ingest.Refusal) {
	l.Listener(events.RecordDeadLettered{Topic: rec.Topic, Reason: string(refusal.Reason)})
}

// write publishes dead letters, if there are any.
func (l Letters) write(ctx context.Context, out []ingest.Outgoing) error {
	if len(out) == 0 {
		return nil
	}
	if err := l.Write(ctx, bus.DeadLetters, out); err != nil {
		return fmt.Errorf("write %d dead letters: %w", len(out), err)
	}
	return nil
}

// SendWaiting writes or deletes the letters of records that the store has rejected, or accepted after all, since they
// were read. Then it deletes them from the store.
func (l Letters) SendWaiting(ctx context.Context) error {
	for {
		list, err := l.Store.Letters().Unconfirmed()
		if err != nil || len(list) == 0 {
			return err
		}
		out := make([]ingest.Outgoing, 0, len(list))
		for _, letter := range list {
			rec := recordOf(letter.Origin)
			if letter.Withdrawn {
				out = append(out, ingest.WithdrawnLetter(rec))
				continue
			}
			refusal := &ingest.Refusal{Reason: ingest.Reason(letter.Reason), Detail: letter.Detail}
			l.note(rec, refusal)
			out = append(out, ingest.WaitingLetter(rec, refusal, l.Version))
		}
		if err := l.write(ctx, out); err != nil {
			return err
		}
		if err := l.Store.Letters().Confirm(len(list)); err != nil {
			return err
		}
	}
}

// ForgetWaiting deletes letters from the store that the leader has written.
func (l Letters) ForgetWaiting() error {
	letters, err := l.Store.Letters().Unconfirmed()
	if err != nil || len(letters) == 0 {
		return err
	}
	return l.Store.Letters().Confirm(len(letters))
}

// originOf returns the parts of a record that a later dead letter needs.
func originOf(rec ingest.Record) snapshot.Origin {
	return snapshot.Origin{
		Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset,
		TimeUnixMillis: rec.Time.UnixMilli(), Key: rec.Key, Value: rec.Value,
	}
}

// recordOf is the inverse of originOf.
func recordOf(o snapshot.Origin) ingest.Record {
	return ingest.Record{
		Topic: o.Topic, Partition: o.Partition, Offset: o.Offset,
		Time: time.UnixMilli(o.TimeUnixMillis).UTC(), Key: o.Key, Value: o.Value,
	}
}
