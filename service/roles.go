package service

import (
	"context"
	"path/filepath"

	"lethe"
	"lethe/configs"
	"lethe/deletions/coordinator"
	"lethe/pipeline/graphs"
	"lethe/pipeline/role"
	"lethe/pipeline/score"
	"lethe/pipeline/train"
)

// surroundings are what every role works with.
func (s *Service) surroundings() role.Surroundings {
	return role.Around(role.Kafka{Client: s.client}, s.listener, s.o.Logger)
}

func (s *Service) openGraphs(ctx context.Context) (role.Role, error) {
	c := s.config
	o := graphs.Options{
		Dir: RoleDir(c.DataDir, configs.RoleBuild), ReceiptsDir: ReceiptsDir(c.DataDir),
		Snapshot: c.Ingest.Config, Limits: c.Ingest.Records, Partition: c.PartitionConfig(), Repair: c.RepairConfig(),
		Secret: s.secret, Version: s.o.Version, Compact: s.compact,
		Erasure: coordinator.Config{
			SigningKey: s.key, KernelSet: s.kernels.Name, VerifyTimeout: c.Erasure.VerifyTimeout,
			DefaultScope: lethe.Scope(c.Erasure.DefaultScope),
		},
		Bus: role.Kafka{Client: s.client}, Clock: coordinator.WallClock{}, Listener: s.listener, Logger: s.o.Logger,
	}
	if c.UsesEmbeddedBroker() {
		o.BrokerDir = filepath.Join(c.DataDir, brokerFolder)
	}
	return graphs.New(ctx, o)
}

func (s *Service) openScore(context.Context) (role.Role, error) {
	c := s.config
	return score.New(score.Options{
		Dir: RoleDir(c.DataDir, configs.RoleScore), Shards: c.Partition.Shards, Workers: c.Workers(),
		Scoring: c.ScoringConfig(), OneHop: c.RepairConfig().OneHop, Trainer: c.TrainerConfig(),
		Kernels: s.kernels, Secret: s.secret, Surroundings: s.surroundings(),
	})
}

func (s *Service) openTrain(context.Context) (role.Role, error) {
	c := s.config
	return train.New(train.Options{
		Dir: RoleDir(c.DataDir, configs.RoleTrain), Shards: c.Partition.Shards, Workers: c.Workers(),
		Trainer: c.TrainerConfig(), Kernels: s.kernels, Secret: s.secret, Surroundings: s.surroundings(),
	})
}
