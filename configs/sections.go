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

// Workers is how many shards train or answer at once.
func (c Config) Workers() int {
	if c.Trainer.Workers == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return c.Trainer.Workers
}

// KernelSet is the kernel set that the configuration names. The error says that
// this processor lacks it.
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

// ScoringConfig is the configuration of scoring.
func (c Config) ScoringConfig() scoring.Config {
	out := c.Scoring
	out.Temperature = cmp.Or(out.Temperature, scoring.Defaults().Temperature)
	return out
}
