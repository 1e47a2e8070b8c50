package service

import (
	"path/filepath"

	"lethe/configs"
	"lethe/partition"
	"lethe/partition/onehop"
	"lethe/partition/repair"
	"lethe/pipeline/graphs"
	"lethe/pipeline/score"
	"lethe/scoring"
)

// PartitionOptions translates the configuration of the partition.
func PartitionOptions(c configs.Config) partition.Options {
	return partition.Options{
		Shards: c.Partition.Shards, Method: c.Partition.Method, Seed: c.Seed,
		Alpha: c.Partition.Alpha, Sweeps: c.Partition.Sweeps,
		NoRefine: !c.Partition.Refine, RefineSweeps: c.Partition.RefineSweeps,
	}
}

func oneHop(c configs.Config) onehop.Mode {
	return onehop.ModeOf(c.Repair.OneHop, c.Repair.OneHopDirected)
}

// RepairOptions translates the configuration of the repair.
func RepairOptions(c configs.Config) repair.Options {
	return repair.Options{Seed: c.Seed, Method: c.Repair.Method, Tau: c.Repair.Tau, MinStubs: c.Repair.MinStubs, OneHop: oneHop(c)}
}

func buildOptions(c configs.Config) graphs.Options {
	o := graphs.Options{
		Dir:           RoleDir(c.DataDir, configs.RoleBuild),
		ReceiptsDir:   ReceiptsDir(c.DataDir),
		Shards:        c.Partition.Shards,
		Snapshot:      c.Ingest.Config,
		Limits:        c.Ingest.Records,
		Partition:     PartitionOptions(c),
		Repair:        RepairOptions(c),
		Seed:          c.Seed,
		VerifyTimeout: c.Erasure.VerifyTimeout,
	}
	if c.UsesEmbeddedBroker() {
		o.BrokerDir = filepath.Join(c.DataDir, brokerFolder)
	}
	return o
}

func scoreOptions(c configs.Config) score.Options {
	return score.Options{
		Dir:         RoleDir(c.DataDir, configs.RoleScore),
		Shards:      c.Partition.Shards,
		LabelLag:    c.Scoring.LabelLagTimesteps,
		Workers:     c.Workers(),
		Aggregation: scoring.Method(c.Scoring.Aggregation),
		Temperature: c.Scoring.Temperature,
		Threshold:   c.Scoring.Threshold,
		OneHop:      oneHop(c),
		Trainer:     c.TrainerConfig(),
	}
}
