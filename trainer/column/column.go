package column

import (
	"context"

	"lethe"
	"lethe/trainer"
)

// Column trains the model of one shard. It has no state and may be copied and used from several
// goroutines.
type Column struct {
	Engine *trainer.Engine
	Shard  lethe.ShardID
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
// Errors are those of trainer.Engine.Train.
func (c Column) Advance(ctx context.Context, previous *trainer.Checkpoint, window []*lethe.Slice) (Step, error) {
	checkpoint, report, err := c.Engine.Train(ctx, c.Shard, previous, window)
	if err != nil {
		return Step{Report: report}, err
	}
	return Step{Checkpoint: checkpoint, Report: report}, nil
}
