package service

import (
	"path/filepath"

	"lethe/configs"
	"lethe/deletions/coordinator"
	"lethe/pipeline/graphs"
	"lethe/pipeline/score"
)

func buildOptions(c configs.Config) graphs.Options {
	o := graphs.Options{
		Dir:       RoleDir(c.DataDir, configs.RoleBuild),
		Shards:    c.Partition.Shards,
		Snapshot:  c.Ingest.Config,
		Limits:    c.Ingest.Records,
		Partition: c.PartitionConfig(),
		Repair:    c.RepairConfig(),
		Seed:      c.Seed,
		Erasure:   coordinator.Config{ReceiptsDir: ReceiptsDir(c.DataDir), VerifyTimeout: c.Erasure.VerifyTimeout},
	}
	if c.UsesEmbeddedBroker() {
		o.Erasure.BrokerDir = filepath.Join(c.DataDir, brokerFolder)
	}
	return o
}

func scoreOptions(c configs.Config) score.Options {
	return score.Options{
		Dir:     RoleDir(c.DataDir, configs.RoleScore),
		Shards:  c.Partition.Shards,
		Workers: c.Workers(),
		Scoring: c.ScoringConfig(),
		OneHop:  c.RepairConfig().OneHop,
		Trainer: c.TrainerConfig(),
	}
}
