package outofgroup

import (
	"maps"
	"sync"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
)

// Board is what stands on answers.v1 of what models were asked out of their groups, as one process
// sees it. It may be used by several goroutines.
type Board struct {
	// wake has the role's loop step when there is something to withdraw.
	wake chan<- struct{}

	mu sync.Mutex
	// heard are the newest answers, by key, those that were withdrawn too: what they say stays true.
	heard map[wire.Key]*wire.Said
	// standing are the keys of the records that the topic holds.
	standing wire.Standing
	// done is the newest question of which answers were withdrawn: nobody waits for others.
	done wire.Question
}

// NewBoard returns an empty board. Its channel must hold one token.
func NewBoard(wake chan<- struct{}) *Board {
	return &Board{wake: wake, heard: make(map[wire.Key]*wire.Said), standing: make(wire.Standing)}
}

// Heard returns what models said of a slice, as an answer to a question, or nil. It is nobody's to change.
func (b *Board) Heard(q wire.Question, key wire.Key) *ensemble.Said {
	b.mu.Lock()
	defer b.mu.Unlock()
	if said := b.heard[key]; said != nil && said.Question == q {
		return &ensemble.Said{Illicit: said.Illicit, Probabilities: said.Probabilities}
	}
	return nil
}

// Note keeps what this process was told itself.
func (b *Board) Note(said *wire.Said) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard[said.Key()] = said
}

// Withdrawn reports whether answers about the same models were withdrawn.
func (b *Board) Withdrawn(q wire.Question) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done.Timestep == q.Timestep && b.done.Ensemble == q.Ensemble
}

// Left returns the tombstones of all that stands, and what notes that they were written.
func (b *Board) Left() (records []ingest.Outgoing, note func() error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	records = b.standing.Tombstones()
	return records, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.standing.Withdrawn(records)
		return nil
	}
}

// Forget drops what was heard about timesteps before one.
func (b *Board) Forget(before lethe.Timestep) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.heard, func(_ wire.Key, said *wire.Said) bool { return said.Timestep < before })
}

// take notes what a batch of answers.v1 and the messages that it completes bring. It returns those that
// lethe did not write.
func (b *Board) take(batch bus.Batch, messages []wire.Received) (foreign []wire.Received) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rec := range batch.Records {
		if wire.IsSaid(rec.Key) {
			b.standing.Take(rec)
		}
	}
	for _, m := range messages {
		switch {
		case m.Key.Kind != wire.KindSaid:
		case m.Deleted:
			if said := b.heard[m.Key]; said != nil {
				b.done = said.Question
			}
		default:
			said, err := wire.DecodeSaid(m.Payload)
			if err != nil || said.Key() != m.Key {
				foreign = append(foreign, m)
				continue
			}
			b.heard[m.Key] = said
		}
	}
	if len(b.standing) > 0 {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return foreign
}
