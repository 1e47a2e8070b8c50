package graphs

import (
	"context"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
)

// letters keeps refused records as dead letters.
type letters struct {
	turns    *role.Turns
	version  string
	listener events.Listener
	// old says that letters of labels may be there under the keys of an earlier version,
	// where deleting one deletes that of its transaction too.
	old bool
}

// letter is a record that was refused when it was read, as it will be kept.
func (l *letters) letter(rec ingest.Record, refusal *ingest.Refusal) ingest.Outgoing {
	l.note(rec, refusal)
	return ingest.DeadLetter(rec, refusal, l.version)
}

// waiting is the letter of a record that was taken and is in no graph.
func (l *letters) waiting(rec ingest.Record, refusal *ingest.Refusal) ingest.Outgoing {
	l.note(rec, refusal)
	return ingest.WaitingLetter(rec, refusal, l.version)
}

func (l *letters) note(rec ingest.Record, refusal *ingest.Refusal) {
	l.listener.RecordDeadLettered(events.RecordDeadLettered{Topic: rec.Topic, Reason: string(refusal.Reason)})
}

// write publishes dead letters, if there are any.
func (l *letters) write(ctx context.Context, out []ingest.Outgoing) error {
	if len(out) == 0 {
		return nil
	}
	if err := l.turns.Write(ctx, bus.DeadLetters, out); err != nil {
		return fmt.Errorf("write %d dead letters: %w", len(out), err)
	}
	return nil
}

// missed keeps a dead letter for what cannot be read of a source topic.
func (in *intake) missed(ctx context.Context, gap *bus.Gap) error {
	return in.letters.write(ctx, []ingest.Outgoing{in.letters.letter(gap.Letter())})
}
