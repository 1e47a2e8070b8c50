package configs

import (
	"time"

	"lethe/ingest/embedded"
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
		DataDir: "lethe-data",
		Roles:   []string{RoleBuild, RoleTrain, RoleScore},
		Seed:    1,
		HTTP:    HTTP{Address: "127.0.0.1:8080"},
		Kafka: Kafka{
			Brokers:           []string{},
			TopicPrefix:       "lethe.",
			Partitions:        4,
			ReplicationFactor: 1,
		},
		Embedded: embedded.Defaults(),
		Ingest: Ingest{
			// A little under the brokers' limit of 1 MiB, which counts framing.
			MaxRecordBytes: 1_000_000,
			// Settling by lateness would train on a timestep whose labels are
			// still on their way; only the sender knows when they are in.
			LabelLatenessTimesteps: LabelsByControl,
			MaxTimestepJump:        1000,
		},
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
