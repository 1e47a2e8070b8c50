package configs

import (
	"slices"
	"time"

	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/internal/kms"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/scoring"
	"lethe/snapshot"
	"lethe/trainer"
)

// Default returns the configuration that `lethe run` takes without any other:
// one process, all roles, the embedded broker, and the Stack of trees and regressions, the most
// accurate that is nowhere worse than its best component (docs/models.md).
func Default() Config {
	c := base()
	c.Repair.OneHop, c.Repair.OneHopDirected = true, true
	return c.WithModel(Stack)
}

// PerShard returns Default with one network per shard on each transaction's own features, the mean
// of their probabilities and a threshold of .5. This is the method of GUIDE, and the starting point
// of examples and measurements of a single kind of model. Erasures with scope shard require a
// configuration without one-hop features, like this one.
func PerShard() Config { return base() }

// WithModel returns the configuration with another model, and with the defaults of that model for
// everything that depends on trainer.model: components, schedule and window, aggregation and
// threshold.
func (c Config) WithModel(model string) Config {
	fits, aggregation := trainer.Defaults(), scoring.Defaults().Aggregation
	switch {
	case model == Stack:
		// Two groups: one that learns from a row's shard, and one that does not.
		fits.Components = []string{trainer.Trees + ":2", trainer.Logistic + ":2"}
		aggregation = scoring.MethodStack
	case slices.Contains(trainer.StreamModels(), model):
		fits = trainer.DefaultsOf(model)
	}
	c.Trainer.Model, c.Trainer.Components = model, fits.Components
	c.Trainer.Schedule, c.Trainer.WindowTimesteps = fits.Schedule, fits.WindowTimesteps
	return c.withAggregation(aggregation)
}

// withAggregation returns the configuration with another aggregation, and its default threshold.
func (c Config) withAggregation(method string) Config {
	c.Scoring.Aggregation, c.Scoring.Threshold = method, scoring.Defaults().Threshold
	if method == scoring.MethodStack {
		c.Scoring.Threshold = "auto"
	}
	return c
}

func base() Config {
	return Config{
		DataDir:   "lethe-data",
		Roles:     roles(),
		Seed:      1,
		HTTP:      defaultHTTP(),
		Webhooks:  defaultWebhooks(),
		OpenDSR:   defaultOpenDSR(),
		Kafka:     bus.Defaults(),
		Embedded:  embedded.Defaults(),
		Ingest:    Ingest{Records: ingest.DefaultLimits(), Config: snapshot.Defaults()},
		Partition: Partition{Config: partition.Defaults()},
		Repair:    Repair{Config: repair.Defaults()},
		Trainer:   Trainer{Config: trainer.Defaults(), Kernels: "auto"},
		Scoring:   scoring.Defaults(),
		Erasure:   Erasure{Config: coordinator.Defaults(), SearchCPU: .8},
		KMS:       kms.Defaults(),
		Traces:    Traces{Transactions: .001},
		Waiting:   Waiting{After: 30 * time.Second, Quiet: time.Hour},
		Log:       Log{Level: "info", Format: "text"},
	}
}
