package configs

import (
	"regexp"
	"strings"
	"time"

	"lethe/internal/check"
	"lethe/trainer"
	"lethe/trainer/models"
)

// Validate reports everything that is wrong at once, each problem with its key,
// value and bound, in the order of the keys. The error is of check.Problems. It
// looks at no file and opens no connection.
func (c Config) Validate() error {
	var p check.Problems
	c.checkProcess(&p)
	c.checkKafka(&p)
	c.checkIngest(&p)
	c.checkPartition(&p)
	c.checkTrainer(&p)
	c.checkScoring(&p)
	p.OneOf("erasure.default_scope", c.Erasure.DefaultScope, "stubs", "shard")
	if c.Repair.OneHopDirected && !c.Repair.OneHop {
		p.Bad("repair.one_hop_directed", c.Repair.OneHopDirected, "false while repair.one_hop is off")
	}
	if c.Repair.OneHop && c.Erasure.DefaultScope == "shard" {
		p.Bad("erasure.default_scope", c.Erasure.DefaultScope, "stubs while repair.one_hop is on: neighbours' rows in other shards hold a mean of the erased one")
	}
	p.Duration("erasure.verify_timeout", c.Erasure.VerifyTimeout, time.Second, 30*24*time.Hour)
	p.OneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	p.OneOf("log.format", c.Log.Format, "text", "json")
	return p.Sorted(Keys()).Err()
}

func (c Config) checkProcess(p *check.Problems) {
	if c.DataDir == "" {
		p.Bad("data_dir", c.DataDir, "the name of a folder")
	}
	known := []string{RoleBuild, RoleTrain, RoleScore}
	if len(c.Roles) == 0 {
		p.Bad("roles", c.Roles, "at least one of "+strings.Join(known, ", "))
	}
	p.Each("roles", "role", c.Roles, known...)
	p.ListenAddress("http.address", c.HTTP.Address)
}

func (c Config) checkKafka(p *check.Problems) {
	for i, broker := range c.Kafka.Brokers {
		p.HostPort("kafka.brokers", broker)
		p.Once("kafka.brokers", "broker", c.Kafka.Brokers, i)
	}
	// Kafka's rule for topic names, with room for the longest of ours under its
	// limit of 249 characters.
	p.That(regexp.MustCompile(`^[a-zA-Z0-9._-]{0,200}$`).MatchString(c.Kafka.TopicPrefix), "kafka.topic_prefix", c.Kafka.TopicPrefix,
		"at most 200 letters, digits, dots, underscores and hyphens")
	p.Whole("kafka.partitions", c.Kafka.Partitions, 1, 1000)
	p.Whole("kafka.replication_factor", c.Kafka.ReplicationFactor, 1, 100)
	if c.UsesEmbeddedBroker() && c.Kafka.ReplicationFactor > 1 {
		p.Bad("kafka.replication_factor", c.Kafka.ReplicationFactor, "1, since the embedded broker is one")
	}
	p.Within("embedded", c.Embedded.Validate())
}

func (c Config) checkIngest(p *check.Problems) {
	p.Whole("ingest.max_record_bytes", c.Ingest.MaxRecordBytes, 1000, 100_000_000)
	p.Whole("ingest.allowed_lateness_timesteps", c.Ingest.AllowedLatenessTimesteps, 0, 1_000_000)
	p.Whole("ingest.label_lateness_timesteps", c.Ingest.LabelLatenessTimesteps, LabelsByControl, 1_000_000)
	p.Whole("ingest.first_timestep", c.Ingest.FirstTimestep, 0, 1<<53)
	p.Whole("ingest.max_timestep_jump", c.Ingest.MaxTimestepJump, 1, 1_000_000_000)
	if late := max(c.Ingest.AllowedLatenessTimesteps, c.Ingest.LabelLatenessTimesteps); c.Ingest.MaxTimestepJump >= 1 && c.Ingest.MaxTimestepJump <= late {
		// What a partition has come to is that far behind its newest record.
		p.Bad("ingest.max_timestep_jump", c.Ingest.MaxTimestepJump, "more than %d, the lateness that is allowed", late)
	}
	p.Whole("ingest.feature_count", c.Ingest.FeatureCount, 0, 4096)
}

func (c Config) checkPartition(p *check.Problems) {
	p.OneOf("partition.method", c.Partition.Method, "gpfb-fast", "gpfb-sr", "random")
	p.Whole("partition.shards", c.Partition.Shards, 1, 10_000)
	p.Number("partition.alpha", c.Partition.Alpha, 0, 1000)
	p.Whole("partition.sweeps", c.Partition.Sweeps, 0, 100_000)
	p.Whole("partition.refine_sweeps", c.Partition.RefineSweeps, 0, 100_000)
	p.OneOf("repair.method", c.Repair.Method, "mixup", "zero", "mirror", "none")
	p.Above("repair.tau", c.Repair.Tau, 0, 1000)
	p.Whole("repair.min_stubs", c.Repair.MinStubs, 0, 1000)
}

// checkTrainer bounds the models to those that are served.
func (c Config) checkTrainer(p *check.Problems) {
	alone := []string{models.EllipticGIN, trainer.Trees, trainer.Logistic}
	p.OneOf("trainer.model", c.Trainer.Model, append(alone, trainer.Blend)...)
	p.Each("trainer.components", "model", c.Trainer.Components, alone...)
	p.Within("trainer", c.TrainerConfig().Validate())
	p.Whole("trainer.workers", c.Trainer.Workers, 0, 4096)
	if c.Trainer.Kernels == "openblas" {
		p.Bad("trainer.kernels", c.Trainer.Kernels, "auto, fma or portable: openblas was removed, since fma is faster")
		return
	}
	p.OneOf("trainer.kernels", c.Trainer.Kernels, "auto", "fma", "portable")
}

func (c Config) checkScoring(p *check.Problems) {
	p.OneOf("scoring.aggregation", c.Scoring.Aggregation, "mean", "similarity")
	p.Number("scoring.temperature", c.Scoring.Temperature, 0, 1000)
	p.Number("scoring.threshold", c.Scoring.Threshold, 0, 1)
	p.Whole("scoring.label_lag_timesteps", c.Scoring.LabelLagTimesteps, 0, 1_000_000)
}
