package deadletters

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// replayedTogether is how many records are sent between two marks.
const replayedTogether = 500

// Refused is a dead letter that was not sent again, and why.
type Refused struct {
	Letter
	Why error
}

// Sendable parts dead letters into those whose records can be sent again and the others.
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

// Replay sends the records of dead letters again to the topics that they came from, each after
// its letter is marked: cut short, it has marked at most some that were not sent, and may be
// called again. A mark stands beside the letter, which may have been withdrawn since it was listed.
// A record that is taken has its letter deleted by lethe; one that is refused again has a new letter
// in its place, and one that was erased meanwhile is dropped as it comes. A record that is sent twice
// is taken once.
//
// It returns how many were sent, and those that cannot be.
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

// send marks letters and sends their records. It returns how many were sent.
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
