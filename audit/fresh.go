package audit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"lethe"
	"lethe/canonical"
	"lethe/configs"
	"lethe/pipeline/train"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	"lethe/trainer/column"
	"lethe/trainer/kernels"
)

// trainAnew retrains every model from fresh weights on all its slices, relearns the meta-models,
// and compares each checkpoint with the stored one.
func (inv *inventory) trainAnew(ctx context.Context, r *Report, progress func(done, of int)) error {
	set, err := inv.kernels()
	if err != nil {
		return err
	}
	runner, err := ensemble.NewRunner(inv.layout, set, inv.config.Workers())
	if err != nil {
		return err
	}
	var mu sync.Mutex
	done := 0
	l := inv.learnt()
	models := l.models()
	if err := runner.Each(ctx, len(models), func(ctx context.Context, i int) error {
		equal, differ, err := l.replay(ctx, runner.Column(models[i]))
		if err != nil {
			return opening(fmt.Errorf("%s: %w", l.named(models[i]), err), inv.config.DataDir, configs.RoleTrain)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		r.FreshCheckpoints += equal
		for _, t := range differ {
			r.problem("%s: training anew gives other bytes after timestep %d", l.named(models[i]), t)
		}
		if progress != nil {
			progress(done, len(models))
		}
		return nil
	}); err != nil || inv.over == nil {
		return err
	}
	return l.learnAnew(ctx, r, runner, inv.config.DataDir)
}

// kernels returns the kernel set that the stored checkpoints name: another one would produce other
// bits, whatever the configuration is now.
func (inv *inventory) kernels() (kernels.Set, error) {
	for _, h := range inv.columns {
		for _, t := range h.Timesteps {
			if c, err := trainer.DecodeCheckpoint(h.Learnt[0][t]); err == nil {
				return kernels.Named(c.Kernels)
			}
		}
	}
	return inv.config.KernelSet()
}

// replay trains one model on its slices and counts the checkpoints that equal the stored ones. If
// the model is refitted for each timestep, only the stored ones are made.
func (l learnt) replay(ctx context.Context, c column.Column) (equal int, differ []lethe.Timestep, err error) {
	timesteps, stored := l.home(c.Shard).Timesteps, l.checkpoints(c.Shard)
	timesteps = slices.DeleteFunc(slices.Clone(timesteps), func(t lethe.Timestep) bool {
		return slices.ContainsFunc(l.layout.ShardsOf(c.Shard), func(s lethe.ShardID) bool { return l.comes(s, t) })
	})
	list := make([]*lethe.Slice, len(timesteps))
	for i, t := range timesteps {
		if list[i], err = l.slice(c.Shard, t); err != nil {
			return 0, nil, fmt.Errorf("timestep %d: %w", t, err)
		}
	}
	compare := func(made *trainer.Checkpoint) {
		_, found := stored[made.Timestep]
		if !found && (!l.kept(l.adopts(c.Shard), made.Timestep) || l.awaited(stored, made.Timestep)) {
			return
		}
		if bytes.Equal(trainer.EncodeCheckpoint(made), stored[made.Timestep]) {
			equal++
		} else {
			differ = append(differ, made.Timestep)
		}
	}
	if c.Engine.Config().Schedule == trainer.Window {
		for i, t := range timesteps {
			if _, found := stored[t]; !found {
				continue
			}
			step, err := c.Advance(ctx, nil, column.Window(c.Engine.Config(), list[:i+1]))
			if err != nil {
				return 0, nil, err
			}
			compare(step.Checkpoint)
		}
		return equal, differ, nil
	}
	for step, err := range c.Replay(ctx, nil, list) {
		if err != nil {
			return 0, nil, err
		}
		compare(step.Checkpoint)
	}
	return equal, differ, nil
}

// slice returns a model's training slice of a timestep.
func (l learnt) slice(number lethe.ShardID, t lethe.Timestep) (*lethe.Slice, error) {
	var parts []*lethe.Slice
	for _, shard := range l.layout.ShardsOf(number) {
		s, err := readSlice(l.columns[shard], t)
		if err != nil {
			return nil, err
		}
		parts = append(parts, s)
	}
	s, err := l.layout.Slice(number, parts)
	if err != nil || l.over == nil { // without a meta-model checkpoints describe their slices
		return s, err
	}
	return l.layout.Config(number).Needed(s), nil
}

func readSlice(h *train.History, t lethe.Timestep) (*lethe.Slice, error) {
	data, err := h.Slice(t)
	if err != nil {
		return nil, err
	}
	s, err := canonical.DecodeSlice(data)
	if err != nil {
		return nil, fmt.Errorf("slice of shard %d: %w", h.Shard, err)
	}
	return s, nil
}

// learnAnew relearns the stored meta-models over the stored models, which have already been
// compared.
func (l learnt) learnAnew(ctx context.Context, r *Report, runner ensemble.Runner, dataDir string) error {
	home, lineages := l.columns[0], l.lineages()
	for end, t := range home.Timesteps {
		data, found := home.Learnt[train.Meta][t]
		if !found {
			continue
		}
		made, err := l.learnOne(ctx, runner, home.Timesteps[max(0, end+1-l.over.Timesteps):end+1])
		if err != nil {
			return opening(fmt.Errorf("meta-model after timestep %d: %w", t, err), dataDir, configs.RoleTrain)
		}
		if want, known := lineages.At(t); known {
			made.Lineage = want[len(want)-1]
		}
		if bytes.Equal(made.Encode(), data) {
			r.FreshCheckpoints++
		} else {
			r.problem("learning the meta-model after timestep %d anew gives other bytes", t)
		}
	}
	return nil
}

// learnOne learns the meta-model after the last timestep of a window.
func (l learnt) learnOne(
	ctx context.Context, runner ensemble.Runner, window []lethe.Timestep,
) (*meta.Model, error) {
	var err error
	models := make([]*trainer.Checkpoint, l.layout.Models())
	for _, number := range l.models() {
		stored := l.checkpoints(number)[window[len(window)-1]]
		if models[number], err = trainer.DecodeCheckpoint(stored); err != nil {
			return nil, fmt.Errorf("%s: %w", l.named(number), err)
		}
	}
	all := make([][]*lethe.Slice, len(window))
	for i, t := range window {
		for _, h := range l.columns {
			s, err := readSlice(h, t)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], s)
		}
	}
	return runner.Learn(ctx, *l.over, models, ensemble.Window(all), new(ensemble.Known))
}
