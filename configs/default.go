package configs

import (
	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/scoring"
	"lethe/snapshot"
	"lethe/trainer"
)

// Default returns the configuration that `lethe run` takes without any other:
// one process, all roles, the embedded broker.
func Default() Config {
	return Config{
		DataDir:   "lethe-data",
		Roles:     roles(),
		Seed:      1,
		HTTP:      HTTP{Address: "127.0.0.1:8080"},
		Kafka:     bus.Defaults(),
		Embedded:  embedded.Defaults(),
		Ingest:    Ingest{Records: ingest.DefaultLimits(), Config: snapshot.Defaults()},
		Partition: Partition{Config: partition.Defaults()},
		Repair:    Repair{Config: repair.Defaults()},
		Trainer:   Trainer{Config: trainer.Defaults(), Kernels: "auto"},
		Scoring:   scoring.Defaults(),
		Erasure:   Erasure{Config: coordinator.Defaults(), SearchCPU: .5},
		Log:       Log{Level: "info", Format: "text"},
	}
}
