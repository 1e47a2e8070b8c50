package ensemble

import (
	"context"

	"lethe"
	"lethe/scoring/stack"
	"lethe/trainer"
)

// OutOfGroup is outOfGroup with nothing known, for tests.
func OutOfGroup(ctx context.Context, r Runner, models []*trainer.Checkpoint, s *lethe.Slice) (stack.Rows, error) {
	source, err := new(Known).at(Window([][]*lethe.Slice{{s}})[0])
	if err != nil {
		return stack.Rows{}, err
	}
	return r.outOfGroup(ctx, models, source)
}

// Order is that in which models are asked, for tests.
func Order(r Runner, models int) []lethe.ShardID { return r.order(models) }
