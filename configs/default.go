package configs

import (
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/snapshot"
	"lethe/trainer"
)

// The roles a process can play.
const (
	RoleBuild = "build"
	RoleTrain = "train"
	RoleScore = "score"
)

// Default returns the configuration that `lethe run` takes without any other:
// one process, all roles, the embedded broker.
func Default() Config {
	return Config{
		DataDir:   "lethe-data",
		Roles:     []string{RoleBuild, RoleTrain, RoleScore},
		Seed:      1,
		HTTP:      HTTP{Address: "127.0.0.1:8080"},
		Kafka:     bus.Defaults(),
		Embedded:  embedded.Defaults(),
		Ingest:    Ingest{Records: ingest.DefaultLimits(), Config: snapshot.Defaults()},
		Partition: Partition{Method: "gpfb-fast", Shards: 20, Refine: true},
		// No minimum of stubs: on a stream more of them hardly help and cost time,
		// see docs/partition.md.
		Repair:  Repair{Method: "mixup", Tau: 1},
		Trainer: Trainer{Config: trainer.Defaults(), Kernels: "auto"},
		// Similarity was measured within half a point of the mean, which costs
		// nothing and is easier to explain.
		Scoring: Scoring{Aggregation: "mean", Threshold: 0.5},
		Erasure: Erasure{DefaultScope: "stubs", VerifyTimeout: 5 * time.Minute},
		Log:     Log{Level: "info", Format: "text"},
	}
}
