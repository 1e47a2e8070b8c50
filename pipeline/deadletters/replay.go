package deadletters

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// replayedTogether is the number of records per batch of marks.
const replayedTogether = 500

// Refused is a dead letter that was not replayed.
type Refused struct {
	Letter
	Why error
}

// Sendable separates the dead letters that can be replayed.
func Sendable(letters []Letter, at time.Time) (ready []Letter, refused []Refused) {
	for _, l := range letters {
		if _, err := l.Again(at); err != nil {
			refused = append(refused, Refused{l, err})
			continue
		}
		ready = append(ready, l)
	}
	return ready, refused
}

// Replay publishes the records of dead letters to their topics, each after its mark: if interrupted, some marked ones
// may not be sent, and it can be repeated. Marks have keys of their own. Intake deletes the letter of an accepted
// record, replaces that of one rejected again, and drops erased ones; duplicates have no effect.
//
// It returns the number sent, and those that cannot be.
func Replay(ctx context.Context, topics Bus, letters []Letter, at time.Time) (sent int, refused []Refused, err error) {
	ready, refused := Sendable(letters, at)
	for some := range slices.Chunk(ready, replayedTogether) {
		n, err := send(ctx, topics, some, at)
		sent += n
		if err != nil {
			return sent, refused, err
		}
	}
	return sent, refused, nil
}

// send marks letters and publishes their records.
func send(ctx context.Context, topics Bus, letters []Letter, at time.Time) (sent int, err error) {
	var marks []ingest.Outgoing
	records := make(map[bus.Topic][]ingest.Outgoing)
	for _, l := range letters {
		record, err := l.Again(at)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", l.Place(), err)
		}
		marks, records[l.Topic] = append(marks, ingest.Mark(l.Place(), at)), append(records[l.Topic], record)
	}
	if err := topics.Write(ctx, bus.DeadLetters, marks); err != nil {
		return 0, fmt.Errorf("mark %d dead letters: %w", len(marks), err)
	}
	for _, t := range Topics() {
		if len(records[t]) == 0 {
			continue
		}
		if err := topics.Write(ctx, t, records[t]); err != nil {
			return sent, fmt.Errorf("send %d records again to %s: %w", len(records[t]), t, err)
		}
		sent += len(records[t])
	}
	return sent, nil
}
