package ensemble

import (
	"context"

	"lethe"
	"lethe/scoring/stack"
	"lethe/trainer"
)

// OutOfGroup is outOfGroup with nothing known, for tests.
func OutOfGroup(ctx context.Context, r Runner, models []*trainer.Checkpoint, s *lethe.Slice) (stack.Rows, error) {
	return r.outOfGroup(ctx, models, sourceOf(s))
}
