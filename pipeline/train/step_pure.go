package train

import (
	"context"
	"fmt"

	"lethe"
	"lethe/scoring"
	"lethe/trainer"
)

// Step trains a shard's model on the window that ends with its newest slice and
// adds the aggregation vector of that slice. It is pure: the same slices give
// the same checkpoint, here, in lethe verify --fresh and anywhere else.
func Step(ctx context.Context, engine *trainer.Engine, shard lethe.ShardID, previous *trainer.Checkpoint, window []*lethe.Slice) (*trainer.Checkpoint, trainer.Report, error) {
	checkpoint, report, err := engine.Train(ctx, shard, previous, window)
	if err != nil {
		return nil, report, err
	}
	histogram, err := scoring.HistogramOfSlice(window[len(window)-1], scoring.PyramidOptions{})
	if err != nil {
		return nil, report, fmt.Errorf("aggregation vector: %w", err)
	}
	checkpoint.Aggregation, err = histogram.MarshalBinary()
	return checkpoint, report, err
}
