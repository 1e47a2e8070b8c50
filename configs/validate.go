package configs

import (
	"strings"
	"time"

	"lethe"
	"lethe/internal/check"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/scoring/stack"
	"lethe/snapshot"
	"lethe/trainer"
	"lethe/trainer/models"
)

// Validate reports all problems at once, each with its key, value and bound, in the order of the
// keys. The error is of check.Problems. It reads no file and opens no connection.
func (c Config) Validate() error {
	var p check.Problems
	c.checkProcess(&p)
	c.checkKafka(&p)
	c.checkIngest(&p)
	c.checkPartition(&p)
	c.checkTrainer(&p)
	p.Within("scoring", c.Scoring.Validate())
	if c.Repair.OneHopDirected && !c.Repair.OneHop {
		p.Bad("repair.one_hop_directed", c.Repair.OneHopDirected, "false while repair.one_hop is off")
	}
	if c.Repair.OneHop && c.Erasure.DefaultScope == lethe.ScopeShard {
		p.Bad("erasure.default_scope", string(c.Erasure.DefaultScope), "stubs while repair.one_hop is on: "+
			"neighbours' rows in other shards hold a mean of the erased one")
	}
	p.Within("erasure", c.Erasure.ValidateSettings())
	p.Number("erasure.search_cpu", c.Erasure.SearchCPU, .01, 1)
	p.Within("signatures", c.Signatures.Validate())
	p.Within("kms", c.KMS.Validate())
	p.Number("traces.transactions", c.Traces.Transactions, 0, 1)
	if c.Traces.Endpoint != "" {
		_, whole := check.WebAddress(c.Traces.Endpoint, "http", "https")
		p.That(whole, "traces.endpoint", c.Traces.Endpoint, "http://host:port or https://host:port")
	}
	p.Duration("waiting.after", c.Waiting.After, 0, longestWait)
	p.Duration("waiting.quiet", c.Waiting.Quiet, 0, longestWait)
	p.OneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	p.OneOf("log.format", c.Log.Format, "text", "json")
	return p.Sorted(Keys()).Err()
}

// longestWait bounds waits that are not reported: a quarter of a year.
const longestWait = 90 * 24 * time.Hour

func (c Config) checkProcess(p *check.Problems) {
	if c.DataDir == "" {
		p.Bad("data_dir", c.DataDir, "the name of a folder")
	}
	known := append(roles(), RoleBuild)
	if len(c.Roles) == 0 {
		p.Bad("roles", c.Roles, "at least one of "+strings.Join(known, ", "))
	}
	p.Each("roles", "role", c.Roles, known...)
	if c.HasRole(RoleGraphs) != c.HasRole(RoleErasure) {
		p.Bad("roles", c.Roles, "graphs and erasure together, since they share their stores")
	}
	c.HTTP.check(p)
	c.Webhooks.check(p, c.HasRole(RoleView))
	c.OpenDSR.check(p, c.HasRole(RoleView))
}

func (c Config) checkKafka(p *check.Problems) {
	p.Within("kafka", c.Kafka.Validate())
	if c.UsesEmbeddedBroker() && c.Kafka.ReplicationFactor > 1 {
		p.Bad("kafka.replication_factor", c.Kafka.ReplicationFactor, "1, since the embedded broker is one")
	}
	if c.UsesEmbeddedBroker() {
		p.That(!c.Kafka.TLS.Enabled, "kafka.tls.enabled", c.Kafka.TLS.Enabled,
			"false without kafka.brokers: the embedded broker has no TLS")
		p.That(c.Kafka.SASL.Mechanism == "", "kafka.sasl.mechanism", c.Kafka.SASL.Mechanism,
			"nothing without kafka.brokers: the embedded broker asks nobody")
	}
	p.Within("embedded", c.Embedded.Validate())
}

// checkIngest rejects snapshot.ByControl for transactions: no producer sends control records only.
func (c Config) checkIngest(p *check.Problems) {
	p.Whole("ingest.allowed_lateness_timesteps", c.Ingest.AllowedLatenessTimesteps, 0, snapshot.MaxLateness)
	p.Whole("ingest.feature_count", c.Ingest.FeatureCount, 0, c.Ingest.Records.MaxFeatureCount)
	p.Within("ingest", c.Ingest.Records.Validate())
	p.Within("ingest", c.Ingest.Validate())
}

func (c Config) checkPartition(p *check.Problems) {
	p.OneOf("partition.method", c.Partition.Method, partition.Methods()...)
	p.Whole("partition.shards", c.Partition.Shards, 1, 10_000)
	p.Number("partition.alpha", c.Partition.Alpha, 0, 1000)
	p.Whole("partition.sweeps", c.Partition.Sweeps, 0, 100_000)
	p.Whole("partition.refine_sweeps", c.Partition.RefineSweeps, 0, 100_000)
	p.Within("partition", c.PartitionConfig().Validate())
	p.OneOf("repair.method", c.Repair.Method, repair.Methods()...)
	p.Whole("repair.min_stubs", c.Repair.MinStubs, 0, 1000)
	p.Within("repair", c.RepairConfig().Validate())
}

// checkTrainer checks that the models can be served.
func (c Config) checkTrainer(p *check.Problems) {
	alone := append(models.Served().Names(), trainer.RowModels()...)
	p.OneOf("trainer.model", c.Trainer.Model, append(alone, trainer.Blend, Stack)...)
	if c.Trainer.Model == Stack {
		c.checkStack(p)
	} else {
		p.Each("trainer.components", "model", c.Trainer.Components, alone...)
		p.Within("trainer", c.TrainerConfig().Validate())
	}
	p.Whole("trainer.workers", c.Trainer.Workers, 0, 4096)
	p.OneOf("trainer.kernels", c.Trainer.Kernels, "auto", "fma", "portable")
}

// checkStack checks the components of an ensemble.
func (c Config) checkStack(p *check.Problems) {
	networks := c.networks()
	if err := networks.Validate(); err != nil {
		p.Within("trainer", err)
		networks = trainer.Defaults() // a problem of all networks is reported once
	}
	n := len(c.Trainer.Components)
	p.That(n >= 1 && n <= stack.MaxComponents, "trainer.components", c.Trainer.Components, "1 to %d components",
		stack.MaxComponents)
	for _, text := range c.Trainer.Components {
		if _, err := ensemble.ParseComponent(text, max(1, c.Partition.Shards), networks); err != nil {
			p.Bad("trainer.components", text, "MODEL:GROUPS, which :KEY=VALUE may follow: %v", err)
		}
	}
	p.That(c.Scoring.Aggregation == scoring.MethodStack, "scoring.aggregation", c.Scoring.Aggregation,
		"%s with trainer.model %s: another aggregation needs another model", scoring.MethodStack, Stack)
}
