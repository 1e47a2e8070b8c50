package column

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"lethe"
	"lethe/trainer"
)

// Replay yields the checkpoint after every slice that is newer than from, oldest first, and ends
// at the first error. If from is nil, training starts with fresh weights and the first checkpoint
// is that after the first slice.
//
// The slices must be those of the column, ascending and without a gap: all of them, or the newest
// ones, back to the start of the first window. Slices up to from's timestep are used only in the
// windows of later ones. If no slice is newer than from, nothing is yielded.
//
// Errors wrap trainer.ErrInvalidSlice if slices are missing, and are those of Advance otherwise.
func (c Column) Replay(ctx context.Context, from *trainer.Checkpoint, column []*lethe.Slice) iter.Seq2[Step, error] {
	return c.replay(ctx, from, column, after(from, column))
}

// Newest returns the last checkpoint of Replay, or from if there is none. Under the schedule
// trainer.Window it trains only this checkpoint, and needs no slices before its window.
func (c Column) Newest(
	ctx context.Context, from *trainer.Checkpoint, column []*lethe.Slice,
) (*trainer.Checkpoint, error) {
	first := after(from, column)
	if c.Engine.Config().Schedule == trainer.Window && first < len(column) {
		first = len(column) - 1
	}
	newest := from
	for step, err := range c.replay(ctx, from, column, first) {
		if err != nil {
			return nil, err
		}
		newest = step.Checkpoint
	}
	return newest, nil
}

// after returns the position of the first slice that is newer than a checkpoint.
func after(from *trainer.Checkpoint, column []*lethe.Slice) int {
	if from == nil {
		return 0
	}
	newer := func(s *lethe.Slice) bool { return s.Timestep > from.Timestep }
	if at := slices.IndexFunc(column, newer); at >= 0 {
		return at
	}
	return len(column)
}

// replay trains from the slice at position first.
func (c Column) replay(
	ctx context.Context, previous *trainer.Checkpoint, column []*lethe.Slice, first int,
) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		config := c.Engine.Config()
		if err := c.complete(config, previous, column, first); err != nil {
			yield(Step{}, err)
			return
		}
		for end := first + 1; end <= len(column); end++ {
			step, err := c.Advance(ctx, previous, Window(config, column[:end]))
			if !yield(step, err) || err != nil {
				return
			}
			previous = step.Checkpoint
		}
	}
}

// complete checks that training on the slices from position first gives the same result as
// training on the whole column.
func (c Column) complete(config trainer.Config, from *trainer.Checkpoint, column []*lethe.Slice, first int) error {
	for i, s := range column {
		if i > 0 && s.Previous != column[i-1].Timestep {
			return fmt.Errorf("%w: shard %d: the slice of timestep %d follows that of %d, not of %d",
				trainer.ErrInvalidSlice, c.Shard, s.Timestep, s.Previous, column[i-1].Timestep)
		}
	}
	if first == len(column) {
		return nil
	}
	s, begin := column[first], lethe.NoTimestep
	if from != nil {
		begin = from.Timestep
	}
	if config.Schedule == trainer.Continual && s.Previous != begin {
		return fmt.Errorf("%w: shard %d: the slice of timestep %d goes on from timestep %d, the checkpoint is after %d",
			trainer.ErrInvalidSlice, c.Shard, s.Timestep, s.Previous, begin)
	}
	if window := Window(config, column[:first+1]); len(window) < config.WindowTimesteps &&
		window[0].Previous != lethe.NoTimestep {
		return fmt.Errorf("%w: shard %d: the window of %d timesteps that ends at %d begins before %d, the oldest slice",
			trainer.ErrInvalidSlice, c.Shard, config.WindowTimesteps, s.Timestep, window[0].Timestep)
	}
	return nil
}
