package configs

import (
	"cmp"
	"fmt"
	"runtime"

	"lethe/partition"
	"lethe/partition/onehop"
	"lethe/partition/refine"
	"lethe/partition/repair"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// TrainerConfig is the configuration of the shard models, with the process's
// seed.
func (c Config) TrainerConfig() trainer.Config {
	out := c.Trainer.For(c.Trainer.Model)
	out.Seed = c.Seed
	return out
}

// networks is the configuration of networks that are components of a Stack.
func (c Config) networks() trainer.Config {
	out := c.Trainer.For(trainer.Defaults().Model)
	out.Seed, out.Components = c.Seed, trainer.Defaults().Components
	return out
}

// Layout returns the models of the ensemble. The error names the invalid component.
func (c Config) Layout() (ensemble.Layout, error) {
	shards := c.Partition.Shards
	if c.Trainer.Model != Stack {
		return ensemble.PerShard(c.TrainerConfig(), shards), nil
	}
	l := ensemble.Layout{Shards: shards}
	for _, text := range c.Trainer.Components {
		component, err := ensemble.ParseComponent(text, shards, c.networks())
		if err != nil {
			return l, err
		}
		l.Components = append(l.Components, component)
	}
	return l, nil
}

// MetaConfig configures the meta-model; it is nil for other aggregations. The error means that the
// rule of the threshold is invalid.
func (c Config) MetaConfig() (*meta.Config, error) {
	s := c.Scoring
	if s.Aggregation != scoring.MethodStack {
		return nil, nil //nolint:nilnil // there is none
	}
	rule, err := s.Rule()
	m := meta.Defaults()
	m.Timesteps, m.Calibration.Method, m.Threshold = s.LearnTimesteps, s.Calibration, rule
	return &m, err
}

// Workers is the number of shards that train or respond concurrently.
func (c Config) Workers() int {
	if c.Trainer.Workers == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return c.Trainer.Workers
}

// KernelSet is the configured kernel set. The error means that this processor lacks it.
func (c Config) KernelSet() (kernels.Set, error) {
	if c.Trainer.Kernels == "auto" {
		return kernels.Default(), nil
	}
	set, err := kernels.Named(c.Trainer.Kernels)
	if err != nil {
		return kernels.Set{}, fmt.Errorf("trainer.kernels: %w", err)
	}
	return set, nil
}

// PartitionConfig is the configuration of the partition, with the process's seed.
func (c Config) PartitionConfig() partition.Config {
	out := c.Partition.Config
	out.Seed, out.Sweeps = c.Seed, cmp.Or(c.Partition.Sweeps, partition.DefaultsOf(out.Method).Sweeps)
	if alpha := c.Partition.Alpha; alpha != 0 {
		out = out.WithAlpha(alpha)
	}
	if n := c.Partition.RefineSweeps; n != 0 {
		out.RefineSweeps = refine.Sweeps{Least: n, Most: n}
	}
	return out
}

// RepairConfig is the configuration of the repair, with the process's seed.
func (c Config) RepairConfig() repair.Config {
	out := c.Repair.Config
	out.Seed, out.OneHop = c.Seed, onehop.ModeOf(c.Repair.OneHop, c.Repair.OneHopDirected)
	return out
}
