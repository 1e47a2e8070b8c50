package protocol

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/lab/aggregation"
	"lethe/lab/networks"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// shardModels are the trained models of all shards.
type shardModels struct {
	runner  ensemble.Runner
	runtime Runtime
	models  []*trainer.Checkpoint
	// steps counts the optimiser's steps so far.
	steps int
	// earlier is the wall time that earlier runs spent on what this one did not train.
	earlier time.Duration
}

// newShardModels returns untrained shards. window is the number of slices that one
// call of train may hold.
func newShardModels(s Settings, classes, window int, schedule string, r Runtime) (*shardModels, error) {
	c := networks.Defaults(s.Model)
	c.Classes, c.Schedule, c.WindowTimesteps, c.Seed = classes, schedule, window, s.Seed
	if !s.rowModel() {
		c.Hidden, c.Passes = cmp.Or(s.Hidden, c.Hidden), s.Epochs
		c.LearningRate, c.WeightDecay = s.LearningRate, s.WeightDecay
	}
	if s.Model == trainer.Blend {
		c.Components = s.Components
		if schedule == trainer.Window {
			// It is trained once: nothing to go on from, and all there is to see.
			c.Schedule, c.Blend.NetworkTimesteps = trainer.Continual, window
		}
	}
	engine, err := trainer.NewEngine(c, r.Kernels)
	if err != nil {
		return nil, err
	}
	if r.Epoch != nil {
		engine.Observe(func(p trainer.Progress) {
			r.Epoch(Epoch{Shard: p.Shard, Timestep: p.Timestep, Epoch: p.Epoch + 1, Epochs: s.Epochs, Loss: p.Loss})
		})
	}
	runner := ensemble.Runner{Engines: []*trainer.Engine{engine}, Workers: r.Workers}
	return &shardModels{runner: runner, runtime: r, models: make([]*trainer.Checkpoint, s.Shards)}, nil
}

// train moves every shard that has a window to the end of it.
func (m *shardModels) train(ctx context.Context, windows [][]*lethe.Slice) error {
	steps, earlier, err := m.advance(ctx, windows)
	if err != nil {
		return err
	}
	m.earlier += earlier
	for shard, step := range steps {
		m.models[shard] = step.Checkpoint
		if windows[shard] == nil {
			continue
		}
		m.steps += step.Report.Steps
		if m.runtime.Epoch != nil && len(step.Checkpoint.Body) > 0 {
			// A model that is no network has no epochs: its fit is one.
			m.runtime.Epoch(Epoch{
				Shard: step.Checkpoint.Shard, Timestep: step.Checkpoint.Timestep, Epoch: 1, Epochs: 1, Loss: step.Report.FinalLoss,
			})
		}
	}
	return nil
}

// ask asks every shard model about a graph.
func (m *shardModels) ask(ctx context.Context, graph trainer.Input) (*ensemble.Answers, error) {
	return m.runner.Ask(ctx, m.models, graph)
}

// hash names the trained bytes of all shards.
func (m *shardModels) hash() (lethe.Digest, error) {
	e, err := ensemble.Of(m.models, nil)
	if err != nil {
		return lethe.Digest{}, err
	}
	return e.Version, nil
}

// combiner returns what puts the shards' answers about a graph together by an aggregation. newest
// are the slices that the shards learnt from last, and labelled, which may be nil,
// is what it may learn from.
func combiner(
	aggregate string, graph trainer.Input, newest []*lethe.Slice, labelled func() (aggregation.Labelled, error),
) (aggregation.Combiner, error) {
	by, err := aggregation.New(aggregate, aggregation.DefaultTemperature)
	if err != nil {
		return nil, err
	}
	return by.Combiner(aggregation.Evidence{
		Shards: len(newest), Nodes: graph.Rows, Edges: graph.Edges, Labelled: labelled,
		Vectors: func() ([][]byte, error) {
			vectors := make([][]byte, len(newest))
			for shard, s := range newest {
				if vectors[shard], err = aggregation.Describe(s); err != nil {
					return nil, fmt.Errorf("aggregation vector of shard %d: %w", shard, err)
				}
			}
			return vectors, nil
		},
	})
}
