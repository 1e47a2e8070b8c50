package protocol

import (
	"context"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/trainer"
	"lethe/trainer/column"
)

// Checkpoints keeps trained shards, so that a run that was ended goes on where it was.
// Several goroutines use it at once.
type Checkpoints interface {
	// Load returns the shard of a key, and whether it is kept.
	Load(key CheckpointKey) (*Trained, bool, error)
	// Save keeps a shard under its own key.
	Save(t *Trained) error
}

// CheckpointKey is all that a trained shard depends on: its lineage names slices, options and
// seed. Shard and Timestep are there to be read.
type CheckpointKey struct {
	Shard    lethe.ShardID
	Timestep lethe.Timestep
	Lineage  lethe.Digest
	Kernels  string
}

// KeyOf returns the key of a checkpoint.
func KeyOf(c *trainer.Checkpoint) CheckpointKey {
	return CheckpointKey{Shard: c.Shard, Timestep: c.Timestep, Lineage: c.Lineage, Kernels: c.Kernels}
}

// Trained is a shard that was trained through a window.
type Trained struct {
	Checkpoint *trainer.Checkpoint
	// Steps counts the optimiser's steps that it took.
	Steps int
	// Spent is the wall time of training, over all runs, up to the end of this shard.
	Spent time.Duration
}

// resumable trains the shards of one call and keeps each when it is trained.
type resumable struct {
	*shardModels
	started time.Time
	// earlier is the wall time of the runs before this one. It is set before the first
	// shard is trained.
	earlier time.Duration
}

// advance makes one step in every column that has a window, as ensemble.Runner.Advance does,
// but takes what is kept. It returns the wall time that earlier runs spent on that.
func (m *shardModels) advance(ctx context.Context, windows [][]*lethe.Slice) ([]column.Step, time.Duration, error) {
	if m.runtime.Checkpoints == nil {
		steps, err := m.runner.Advance(ctx, m.models, windows)
		return steps, 0, err
	}
	r := &resumable{shardModels: m, started: m.runtime.Now()}
	steps := make([]column.Step, len(m.models))
	missing, err := r.load(steps, windows)
	if err != nil {
		return nil, 0, err
	}
	err = m.runner.Each(ctx, len(missing), func(ctx context.Context, i int) (err error) {
		shard := missing[i]
		steps[shard], err = r.train(ctx, shard, windows[shard])
		return err
	})
	return steps, r.earlier, err
}

// load fills in the steps that are kept and returns the shards that are left to train.
func (r *resumable) load(steps []column.Step, windows [][]*lethe.Slice) (missing []lethe.ShardID, err error) {
	for shard := range steps {
		steps[shard].Checkpoint = r.models[shard]
		if len(windows[shard]) == 0 {
			continue
		}
		kept, found, err := r.runtime.Checkpoints.Load(r.key(lethe.ShardID(shard), windows[shard]))
		if err != nil {
			return nil, err
		}
		if !found {
			missing = append(missing, lethe.ShardID(shard))
			continue
		}
		steps[shard] = column.Step{Checkpoint: kept.Checkpoint, Report: trainer.Report{Steps: kept.Steps}}
		r.earlier = max(r.earlier, kept.Spent)
		if r.runtime.Resumed != nil {
			r.runtime.Resumed(lethe.ShardID(shard), kept.Steps)
		}
	}
	return missing, nil
}

// key is that of the checkpoint which training a shard on a window would give.
func (r *resumable) key(shard lethe.ShardID, window []*lethe.Slice) CheckpointKey {
	var before lethe.Digest
	if previous := r.models[shard]; previous != nil {
		before = previous.Lineage
	}
	digests := make([]lethe.Digest, len(window))
	for i, s := range window {
		digests[i] = canonical.DigestSlice(s)
	}
	return CheckpointKey{
		Shard: shard, Timestep: window[len(window)-1].Timestep, Kernels: r.runtime.Kernels.Name,
		Lineage: r.runner.Engine(shard).Config().LineageOf(before, digests),
	}
}

// train trains a shard and keeps it.
func (r *resumable) train(ctx context.Context, shard lethe.ShardID, window []*lethe.Slice) (column.Step, error) {
	step, err := r.runner.Column(shard).Advance(ctx, r.models[shard], window)
	if err != nil {
		return step, err
	}
	return step, r.runtime.Checkpoints.Save(&Trained{
		Checkpoint: step.Checkpoint, Steps: step.Report.Steps, Spent: r.earlier + r.runtime.Now().Sub(r.started),
	})
}
