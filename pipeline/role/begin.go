package role

import (
	"context"
	"maps"
	"slices"
	"time"

	"lethe/ingest/bus"
	"lethe/pipeline/journal"
)

// Beginning is a role whose topics are open where its logic left them, and that has yet to do what
// the logic had not finished.
type Beginning struct {
	// Tail is what the role is to be fed from, once it has begun.
	Tail      Tail
	follower  *Follower
	positions map[bus.TopicPartition]int64
	// gate is nil unless the process stands by.
	gate *gate
}

// Open opens the topics where the logic left them. It is what Run begins with, for those who feed
// the role themselves.
func (f *Follower) Open(ctx context.Context) (*Beginning, error) {
	positions, err := f.positions(ctx)
	if err == nil {
		err = f.around.Standing.Begin(ctx, f.around.Bus, journal.ForAll, journal.Position{})
	}
	if err == nil {
		err = readLeaders(ctx, f.around.Bus, f.leaders) // before anything that one of them wrote
	}
	if err != nil {
		return nil, err
	}
	tail, err := f.around.Bus.Follow(positions)
	if err != nil {
		return nil, err
	}
	f.unsaid = maps.Clone(positions)
	f.opens.Do(func() {
		f.follows = slices.Collect(maps.Keys(positions))
		close(f.opened)
	})
	b := &Beginning{Tail: tail, follower: f, positions: positions}
	if s := f.around.Standing; s != nil {
		s.Lead.dealtWith(positions) // and no more, as it was open before
	}
	if s := f.around.Standing; s.StandsBy() {
		s.Lead.hears(0)
		if replayer, is := f.logic.(Replayer); is {
			b.Tail = replayed{tail, replayer}
		} else {
			b.gate = newGate(ctx, tail, s, positions)
			b.Tail = b.gate
		}
	}
	return b, nil
}

// Begin does what the logic had not finished, and reports whether the role has begun: a process
// that stands by waits until who leads has dealt with all that it has dealt with itself. If it is to
// lead before that, nobody else may have published what it had not, and it only hears others until
// it does.
func (b *Beginning) Begin(ctx context.Context) (bool, error) {
	s := b.follower.around.Standing
	if b.gate != nil {
		reached, err := b.gate.reached(b.positions)
		switch {
		case err != nil:
			return false, err
		case !reached:
			term := s.Lead.Term()
			s.Lead.hears(term)
			b.gate.only = term > 0
			return term > 0, nil
		}
	}
	if err := b.follower.Feed(ctx, Input{}); err != nil {
		return false, err
	}
	if s != nil {
		s.Lead.playing(s.Term)
	}
	b.follower.sayDealt(ctx)
	return true, nil
}

// wait is Begin, again and again until the role has begun.
func (b *Beginning) wait(ctx context.Context) error {
	for {
		if begun, err := b.Begin(ctx); err != nil || begun {
			return err
		}
		select {
		case <-time.After(gateEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
