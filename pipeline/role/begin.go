package role

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe/pipeline/journal"
)

// Beginning is a role whose topics are open where its logic left them, and that has yet to do what
// the logic had not finished.
type Beginning struct {
	// Tail is what the role is to be fed from, once it has begun.
	Tail     Tail
	follower *Follower
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
	f.follows = slices.Collect(maps.Keys(positions))
	b := &Beginning{Tail: tail, follower: f}
	s := f.around.Standing
	if s != nil {
		s.Lead.dealtWith(positions) // and no more, as it was open before
	}
	if s.StandsBy() {
		replayer, is := f.logic.(Replayer)
		if !is {
			return nil, errors.Join(fmt.Errorf("role %s replays no journal", f.name), tail.Close())
		}
		b.Tail = replayed{tail, replayer}
	}
	return b, nil
}

// Begin does what the logic had not finished.
func (b *Beginning) Begin(ctx context.Context) error {
	if err := b.follower.Feed(ctx, Input{}); err != nil {
		return err
	}
	b.follower.sayDealt()
	return nil
}
