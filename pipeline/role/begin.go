package role

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe/pipeline/journal"
)

// Beginning is a role with open topics that has not completed its unfinished work yet.
type Beginning struct {
	// Tail is the source of the role's input after Begin.
	Tail     Tail
	follower *Follower
}

// Open opens the topics at the logic's positions. Run calls it; other callers feed the role themselves.
func (f *Follower) Open(ctx context.Context) (*Beginning, error) {
	positions, err := f.positions(ctx)
	if err == nil {
		err = f.around.Standing.Begin(ctx, f.around.Bus, journal.ForAll, journal.Position{})
	}
	if err == nil {
		err = readLeaders(ctx, f.around.Bus, f.leaders) // before any record of a leader
	}
	if err != nil {
		return nil, err
	}
	tail, err := f.around.Bus.Follow(positions)
	if err != nil {
		return nil, err
	}
	f.unannounced = maps.Clone(positions)
	f.follows = slices.Collect(maps.Keys(positions))
	b := &Beginning{Tail: tail, follower: f}
	s := f.around.Standing
	if s != nil {
		s.Lead.setProcessed(positions) // replaces those of a previous opening
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

// Begin completes the logic's unfinished work.
func (b *Beginning) Begin(ctx context.Context) error {
	if err := b.follower.Feed(ctx, Input{}); err != nil {
		return err
	}
	b.follower.announceProcessed()
	return nil
}
