package column

import (
	"context"
	"fmt"

	"lethe"
	"lethe/trainer"
)

// Column trains the model of one shard. It has no state and may be copied and used from several
// goroutines.
type Column struct {
	Engine *trainer.Engine
	Shard  lethe.ShardID
	// Describe returns the aggregation vector of a checkpoint, from the newest slice it was trained
	// on; it must be pure. If nil, checkpoints have none.
	Describe func(*lethe.Slice) ([]byte, error)
}

// Step is a checkpoint and the report of its training.
type Step struct {
	Checkpoint *trainer.Checkpoint
	Report     trainer.Report
}

// Advance returns the checkpoint after the last slice of the window. previous is the checkpoint
// after the preceding slice, or nil for fresh weights, and is not changed. Windows are those of
// the function Window.
//
// Errors are those of trainer.Engine.Train and of Describe.
func (c Column) Advance(ctx context.Context, previous *trainer.Checkpoint, window []*lethe.Slice) (Step, error) {
	checkpoint, report, err := c.Engine.Train(ctx, c.Shard, previous, window)
	if err != nil {
		return Step{Report: report}, err
	}
	if c.Describe != nil {
		newest := window[len(window)-1]
		if checkpoint.Aggregation, err = c.Describe(newest); err != nil {
			return Step{Report: report}, fmt.Errorf("shard %d timestep %d: aggregation vector: %w", c.Shard, newest.Timestep,
				err)
		}
	}
	return Step{Checkpoint: checkpoint, Report: report}, nil
}
