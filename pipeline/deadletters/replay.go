package deadletters

import (
	"context"
	"fmt"
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

// Replay sends the records of dead letters again to the topics that they came from, each after
// its letter is marked: cut short, it has marked at most some that were not sent, and may be
// called again. A record that is taken has its letter deleted by lethe; one that is refused
// again has a new letter in place of the marked one, and one that was erased meanwhile is
// dropped as it comes. A record that is sent twice is taken once.
//
// It returns how many were sent, and those that cannot be.
func Replay(ctx context.Context, topics Bus, letters []Letter, at time.Time) (sent int, refused []Refused, err error) {
	marks, records := []ingest.Outgoing{}, make(map[bus.Topic][]ingest.Outgoing)
	flush := func() error {
		if len(marks) == 0 {
			return nil
		}
		if err := topics.Write(ctx, bus.DeadLetters, marks); err != nil {
			return fmt.Errorf("mark %d dead letters: %w", len(marks), err)
		}
		for _, t := range Topics() {
			if len(records[t]) == 0 {
				continue
			}
			if err := topics.Write(ctx, t, records[t]); err != nil {
				return fmt.Errorf("send %d records again to %s: %w", len(records[t]), t, err)
			}
			sent += len(records[t])
		}
		marks, records = nil, make(map[bus.Topic][]ingest.Outgoing)
		return nil
	}
	for _, l := range letters {
		record, err := l.Again(at)
		if err != nil {
			refused = append(refused, Refused{l, err})
			continue
		}
		marks = append(marks, l.Marked(at))
		records[l.Topic] = append(records[l.Topic], record)
		if len(marks) == replayedTogether {
			if err := flush(); err != nil {
				return sent, refused, err
			}
		}
	}
	return sent, refused, flush()
}
