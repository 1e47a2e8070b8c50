package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"

	"lethe"
	"lethe/canonical"
	"lethe/configs"
	"lethe/pipeline/train"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/column"
	"lethe/trainer/kernels"
)

// checkCheckpoints checks that every slice has a checkpoint whose lineage is the
// chain of the slices.
func (inv *inventory) checkCheckpoints(r *Report) {
	for _, h := range inv.columns {
		var slices []lethe.Digest
		for _, t := range h.Timesteps {
			slices = append(slices, canonical.DigestOf(h.Slices[t]))
		}
		lineages := column.Lineages(inv.trainer, slices)
		for i, t := range h.Timesteps {
			data, found := h.Checkpoints[t]
			if !found {
				r.problem("shard %d: no checkpoint after timestep %d", h.Shard, t)
				continue
			}
			r.Checkpoints++
			c, err := trainer.DecodeCheckpoint(data)
			switch {
			case err != nil:
				r.problem("shard %d: checkpoint after timestep %d: %v", h.Shard, t, err)
			case c.Lineage != lineages[i]:
				r.problem("shard %d: the checkpoint after timestep %d was not trained on the stored slices", h.Shard, t)
			}
		}
	}
}

// checkServed checks that what is served are the checkpoints of the shards.
func (inv *inventory) checkServed(r *Report) {
	s := inv.served
	if s.Through == lethe.NoTimestep {
		return
	}
	r.EnsembleHash = s.Version.String()
	digests := make([]lethe.Digest, len(s.Checkpoints))
	for shard, data := range s.Checkpoints {
		digests[shard] = canonical.DigestOf(data)
		if !bytes.Equal(data, inv.columns[shard].Checkpoints[s.Through]) {
			r.problem("shard %d: the served model is not the checkpoint after timestep %d", shard, s.Through)
		}
	}
	if scoring.EnsembleVersion(digests) != s.Version {
		r.problem("the ensemble's hash is not that of its models")
	}
}

// search looks for every erased record in every file of the directory.
func (inv *inventory) search(ctx context.Context, r *Report) error {
	r.Erasures = len(inv.done)
	scanner, err := inv.scanner()
	if err != nil || scanner == nil {
		return err
	}
	report, err := scanner.ScanDir(ctx, os.DirFS(inv.config.DataDir))
	if err != nil {
		return err
	}
	r.Files, r.Bytes = report.Files, report.Bytes
	for _, hit := range report.Hits {
		r.problem("%s holds the %s of an erased record at byte %d", hit.Path, hit.Kind, hit.Offset)
	}
	return nil
}

// trainAnew trains every shard from fresh weights through all its slices and
// compares each checkpoint with the stored one.
func (inv *inventory) trainAnew(ctx context.Context, r *Report, progress func(done, of int)) error {
	set, err := inv.kernels()
	if err != nil {
		return err
	}
	engine, err := trainer.NewEngine(inv.trainer, set)
	if err != nil {
		return err
	}
	runner := ensemble.Runner{Engine: engine, Workers: inv.config.Workers(), Describe: scoring.Describe}
	var mu sync.Mutex
	done := 0
	return runner.Each(ctx, len(inv.columns), func(ctx context.Context, i int) error {
		h := inv.columns[i]
		equal, differ, err := replay(ctx, runner.Column(h.Shard), h)
		if err != nil {
			return opening(fmt.Errorf("shard %d: %w", h.Shard, err), inv.config.DataDir, configs.RoleTrain)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		r.FreshCheckpoints += equal
		for _, t := range differ {
			r.problem("shard %d: training anew gives other bytes after timestep %d", h.Shard, t)
		}
		if progress != nil {
			progress(done, len(inv.columns))
		}
		return nil
	})
}

// kernels returns the kernel set that the stored checkpoints name: another
// would give other bits, whatever the configuration says today.
func (inv *inventory) kernels() (kernels.Set, error) {
	for _, h := range inv.columns {
		for _, t := range h.Timesteps {
			if c, err := trainer.DecodeCheckpoint(h.Checkpoints[t]); err == nil {
				return kernels.Named(c.Kernels)
			}
		}
	}
	return inv.config.KernelSet()
}

// replay trains one shard through its slices and counts the checkpoints that come
// out as stored.
func replay(ctx context.Context, c column.Column, h *train.History) (equal int, differ []lethe.Timestep, err error) {
	slices := make([]*lethe.Slice, len(h.Timesteps))
	for i, t := range h.Timesteps {
		if slices[i], err = canonical.DecodeSlice(h.Slices[t]); err != nil {
			return 0, nil, fmt.Errorf("timestep %d: %w", t, err)
		}
	}
	for step, err := range c.Replay(ctx, nil, slices) {
		if err != nil {
			return 0, nil, err
		}
		t := step.Checkpoint.Timestep
		if bytes.Equal(trainer.EncodeCheckpoint(step.Checkpoint), h.Checkpoints[t]) {
			equal++
		} else {
			differ = append(differ, t)
		}
	}
	return equal, differ, nil
}
