package share

import (
	"sync"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Board is what stands on answers.v1, as one process of the role sees it. It may be used by
// several goroutines. A nil *Board knows of nothing, for roles that share with nobody.
type Board struct {
	leads bool
	// wake has the role's loop step when there is something to withdraw.
	wake chan struct{}

	mu sync.Mutex
	// asked is the newest question, nil for none, and answers are those to it; withdrawn says that
	// nobody waits for them any more.
	asked     *wire.Ask
	answers   map[lethe.ShardID][]float32
	withdrawn bool
	// open says that this process leads and waits for answers to what it has asked.
	open bool
	// standing are the keys of the records that the topic holds.
	standing wire.Standing
	// changed is closed, and replaced, when a helper may have something to do.
	changed chan struct{}
}

// NewBoard returns the board of a process that leads the role, or stands by.
func NewBoard(leads bool) *Board {
	return &Board{
		leads: leads, wake: make(chan struct{}, 1), standing: make(wire.Standing), changed: make(chan struct{}),
	}
}

// Wake delivers when the loop of the process that leads is to withdraw something.
func (b *Board) Wake() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.wake
}

// Ask has the leader wait for answers to a question, those to another one being forgotten. It
// reports whether the question is a new one, which is to be published.
func (b *Board) Ask(a *wire.Ask) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open && b.asked != nil && b.asked.Question == a.Question {
		return false
	}
	b.ask(a)
	b.open = true
	return true
}

func (b *Board) ask(a *wire.Ask) {
	if a == nil || b.asked == nil || b.asked.Question != a.Question {
		b.answers = make(map[lethe.ShardID][]float32)
	}
	b.asked, b.withdrawn = a, false
	b.change()
}

func (b *Board) change() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Known returns what is known that models say to a question. The rows are nobody's to change.
func (b *Board) Known(q wire.Question) func(model lethe.ShardID) []float32 {
	if b == nil {
		return nil
	}
	return func(model lethe.ShardID) []float32 {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.asked == nil || b.asked.Question != q {
			return nil
		}
		return b.answers[model]
	}
}

// Done says that the leader needs no answers any more.
func (b *Board) Done() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open = false; b.leads {
		b.ask(nil)
	}
	b.signal()
}

// Left returns the tombstones of what the process that leads has to withdraw.
func (b *Board) Left() []ingest.Outgoing {
	if b == nil || !b.leads {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		return nil
	}
	return b.standing.Tombstones()
}

// Withdrawn notes that tombstones were written.
func (b *Board) Withdrawn(records []ingest.Outgoing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.standing.Withdrawn(records)
}

func (b *Board) signal() {
	if !b.leads || b.open || len(b.standing) == 0 {
		return
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take notes what a batch of answers.v1 and the messages that it completes bring. It returns those that
// lethe did not write.
func (b *Board) take(batch bus.Batch, messages []wire.Received) (foreign []wire.Received) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rec := range batch.Records {
		if !wire.IsSaid(rec.Key) { // those are of the processes that train
			b.standing.Take(rec)
		}
	}
	for _, m := range messages {
		if err := b.message(m); err != nil {
			foreign = append(foreign, m)
		}
	}
	b.signal()
	return foreign
}

func (b *Board) message(m wire.Received) error {
	switch {
	case m.Key.Kind == wire.KindAnswer && !m.Deleted:
		a, err := wire.DecodeAnswer(m.Payload)
		if err == nil && b.asked != nil && b.asked.Question == a.Question {
			b.answers[a.Model] = a.Posteriors
		}
		return err
	case m.Key.Kind != wire.KindAsk || b.open:
		return nil // whoever waits for answers knows what it has asked
	case m.Deleted:
		// The answers stay known: who stands by scores the timestep, too.
		b.withdrawn = true
		b.change()
		return nil
	default:
		a, err := wire.DecodeAsk(m.Payload)
		if err == nil {
			b.ask(a)
		}
		return err
	}
}

// question returns the one that waits for answers, nil for none, and what is closed when there may be
// something else to do.
func (b *Board) question() (*wire.Ask, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.withdrawn {
		return nil, b.changed
	}
	return b.asked, b.changed
}

// news says that a helper may have something to do.
func (b *Board) news() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change()
}

// answered notes what this process was told itself.
func (b *Board) answered(a *wire.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked != nil && b.asked.Question == a.Question {
		b.answers[a.Model] = a.Posteriors
	}
}
