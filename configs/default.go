package configs

import (
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/scoring"
	"lethe/snapshot"
	"lethe/trainer"
)

// The roles a process can play. Erasures are driven beside the graphs, whose
// stores they rewrite, so that a process plays both or neither.
const (
	RoleGraphs  = "graphs"
	RoleErasure = "erasure"
	RoleTrain   = "train"
	RoleScore   = "score"
	// RoleBuild is what graphs and erasure together were called, and their folder
	// still is.
	RoleBuild = "build"
)

// Default returns the configuration that `lethe run` takes without any other:
// one process, all roles, the embedded broker.
func Default() Config {
	return Config{
		DataDir:   "lethe-data",
		Roles:     []string{RoleGraphs, RoleErasure, RoleTrain, RoleScore},
		Seed:      1,
		HTTP:      HTTP{Address: "127.0.0.1:8080"},
		Kafka:     bus.Defaults(),
		Embedded:  embedded.Defaults(),
		Ingest:    Ingest{Records: ingest.DefaultLimits(), Config: snapshot.Defaults()},
		Partition: Partition{Config: partition.Defaults()},
		Repair:    Repair{Config: repair.Defaults()},
		Trainer:   Trainer{Config: trainer.Defaults(), Kernels: "auto"},
		Scoring:   scoring.Defaults(),
		Erasure:   Erasure{DefaultScope: "stubs", VerifyTimeout: 5 * time.Minute},
		Log:       Log{Level: "info", Format: "text"},
	}
}
