package protocol

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/scoring"
	"lethe/trainer"
)

// ensemble is the trained model of every shard.
type ensemble struct {
	engine  *trainer.Engine
	runtime Runtime
	models  []*trainer.Checkpoint
	classes int
	// steps counts the optimiser's steps so far.
	steps atomic.Int64
}

// newEnsemble returns untrained shards. window is the number of slices that one
// call of train may hold.
func newEnsemble(s Settings, classes, window int, schedule string, r Runtime) (*ensemble, error) {
	opts := trainer.Options{Model: s.Model, Classes: classes, Schedule: schedule, WindowTimesteps: window, Seed: s.Seed}
	if !s.rowModel() {
		opts.Hidden, opts.Passes = s.Hidden, s.Epochs
		opts.LearningRate, opts.WeightDecay, opts.NoWeightDecay = s.LearningRate, s.WeightDecay, s.WeightDecay == 0
	}
	if s.Model == trainer.Blend {
		opts.Blend.Components = s.Components
		if schedule == trainer.Window {
			// It is trained once: nothing to go on from, and all there is to see.
			opts.Schedule, opts.Blend.NetworkTimesteps = trainer.Continual, window
		}
	}
	if r.Epoch != nil {
		opts.Observe = func(p trainer.Progress) {
			r.Epoch(Epoch{Shard: p.Shard, Timestep: p.Timestep, Epoch: p.Epoch + 1, Epochs: s.Epochs, Loss: p.Loss})
		}
	}
	engine, err := trainer.NewEngine(opts, r.Kernels)
	if err != nil {
		return nil, err
	}
	return &ensemble{engine: engine, runtime: r, models: make([]*trainer.Checkpoint, s.Shards), classes: classes}, nil
}

// train moves every shard that has a window to the end of it, side by side. The
// result does not depend on the number of workers.
func (e *ensemble) train(ctx context.Context, windows [][]*lethe.Slice, workers int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for shard, window := range windows {
		if window == nil {
			continue
		}
		group.Go(func() error {
			next, report, err := e.engine.Train(ctx, lethe.ShardID(shard), e.models[shard], window)
			if err != nil {
				return err
			}
			e.models[shard] = next
			e.steps.Add(int64(report.Steps))
			if e.runtime.Epoch != nil && len(next.Body) > 0 {
				// A model that is no network has no epochs: its fit is one.
				e.runtime.Epoch(Epoch{Shard: next.Shard, Timestep: next.Timestep, Epoch: 1, Epochs: 1, Loss: report.FinalLoss})
			}
			return nil
		})
	}
	return group.Wait()
}

// posteriors asks every shard model about a graph: per shard, rows × classes.
func (e *ensemble) posteriors(ctx context.Context, in trainer.Input, workers int) ([][]float32, error) {
	out := make([][]float32, len(e.models))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for shard, model := range e.models {
		group.Go(func() error {
			p, err := e.engine.Probabilities(ctx, model, in)
			out[shard] = p
			return err
		})
	}
	return out, group.Wait()
}

// hash names the trained bytes of all shards.
func (e *ensemble) hash() lethe.Digest {
	digests := make([]lethe.Digest, len(e.models))
	for i, m := range e.models {
		digests[i] = trainer.DigestCheckpoint(m)
	}
	return scoring.EnsembleVersion(digests)
}

// portraits are the aggregation vectors of the shards' newest slices.
func portraits(newest []*lethe.Slice) ([]*scoring.Histogram, error) {
	out := make([]*scoring.Histogram, len(newest))
	for i, s := range newest {
		h, err := scoring.HistogramOfSlice(s, scoring.PyramidOptions{})
		if err != nil {
			return nil, fmt.Errorf("aggregation vector of shard %d: %w", i, err)
		}
		out[i] = h
	}
	return out, nil
}
