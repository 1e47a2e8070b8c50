package configs

import (
	"fmt"
	"slices"
	"time"
)

// Validate reports everything that is wrong at once, each problem with its key,
// value and bound. It looks at no file and opens no connection.
func (c Config) Validate() error {
	return c.problems(nil)
}

// problems validates; origin, if not nil, adds where a key's value came from.
func (c Config) problems(origin func(key string) string) error {
	k := &checker{origin: origin}
	c.checkProcess(k)
	c.checkKafka(k)
	c.checkIngest(k)
	c.checkPartition(k)
	c.checkTrainer(k)
	c.checkScoring(k)
	k.oneOf("erasure.default_scope", c.Erasure.DefaultScope, "stubs", "shard")
	if c.Repair.OneHopDirected && !c.Repair.OneHop {
		k.bad("repair.one_hop_directed", c.Repair.OneHopDirected, "false while repair.one_hop is off")
	}
	if c.Repair.OneHop && c.Erasure.DefaultScope == "shard" {
		k.bad("erasure.default_scope", c.Erasure.DefaultScope, "stubs while repair.one_hop is on: neighbours' rows in other shards hold a mean of the erased one")
	}
	k.duration("erasure.verify_timeout", c.Erasure.VerifyTimeout, time.Second, 30*24*time.Hour)
	k.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	k.oneOf("log.format", c.Log.Format, "text", "json")
	return k.err()
}

func (c Config) checkProcess(k *checker) {
	if c.DataDir == "" {
		k.bad("data_dir", c.DataDir, "the name of a folder")
	}
	known := []string{RoleBuild, RoleTrain, RoleScore}
	if len(c.Roles) == 0 {
		k.bad("roles", c.Roles, "at least one of "+list(known))
	}
	for i, role := range c.Roles {
		k.oneOf("roles", role, known...)
		if slices.Contains(c.Roles[:i], role) {
			k.bad("roles", role, "every role once")
		}
	}
	k.hostPort("http.address", c.HTTP.Address, true)
}

func (c Config) checkKafka(k *checker) {
	for i, broker := range c.Kafka.Brokers {
		k.hostPort("kafka.brokers", broker, false)
		if slices.Contains(c.Kafka.Brokers[:i], broker) {
			k.bad("kafka.brokers", broker, "every broker once")
		}
	}
	k.topicPrefix("kafka.topic_prefix", c.Kafka.TopicPrefix)
	k.count("kafka.partitions", c.Kafka.Partitions, 1, 1000)
	k.count("kafka.replication_factor", c.Kafka.ReplicationFactor, 1, 100)
	if c.UsesEmbeddedBroker() && c.Kafka.ReplicationFactor > 1 {
		k.bad("kafka.replication_factor", c.Kafka.ReplicationFactor, "1, since the embedded broker is one")
	}
	k.count("embedded.port", c.Embedded.Port, 0, 65535)
	k.duration("embedded.clean_interval", c.Embedded.CleanInterval, 10*time.Millisecond, time.Hour)
}

func (c Config) checkIngest(k *checker) {
	k.count("ingest.max_record_bytes", c.Ingest.MaxRecordBytes, 1000, 100_000_000)
	k.count("ingest.allowed_lateness_timesteps", c.Ingest.AllowedLatenessTimesteps, 0, 1_000_000)
	k.count("ingest.label_lateness_timesteps", c.Ingest.LabelLatenessTimesteps, LabelsByControl, 1_000_000)
	k.count("ingest.first_timestep", c.Ingest.FirstTimestep, 0, 1<<53)
	k.count("ingest.max_timestep_jump", c.Ingest.MaxTimestepJump, 1, 1_000_000_000)
	if late := max(c.Ingest.AllowedLatenessTimesteps, c.Ingest.LabelLatenessTimesteps); c.Ingest.MaxTimestepJump >= 1 && c.Ingest.MaxTimestepJump <= late {
		// What a partition has come to is that far behind its newest record.
		k.bad("ingest.max_timestep_jump", c.Ingest.MaxTimestepJump, fmt.Sprintf("more than %d, the lateness that is allowed", late))
	}
	k.count("ingest.feature_count", c.Ingest.FeatureCount, 0, 4096)
}

func (c Config) checkPartition(k *checker) {
	k.oneOf("partition.method", c.Partition.Method, "gpfb-fast", "gpfb-sr", "random")
	k.count("partition.shards", c.Partition.Shards, 1, 10_000)
	k.number("partition.alpha", c.Partition.Alpha, bounds{from: 0, to: 1000})
	k.count("partition.sweeps", c.Partition.Sweeps, 0, 100_000)
	k.count("partition.refine_sweeps", c.Partition.RefineSweeps, 0, 100_000)
	k.oneOf("repair.method", c.Repair.Method, "mixup", "zero", "mirror", "none")
	k.number("repair.tau", c.Repair.Tau, bounds{from: 0, to: 1000, above: true})
	k.count("repair.min_stubs", c.Repair.MinStubs, 0, 1000)
}

func (c Config) checkTrainer(k *checker) {
	c.checkModel(k)
	k.count("trainer.hidden", c.Trainer.Hidden, 2, 8192)
	k.number("trainer.learning_rate", c.Trainer.LearningRate, bounds{from: 0, to: 10, above: true})
	k.number("trainer.weight_decay", c.Trainer.WeightDecay, bounds{from: 0, to: 10})
	k.oneOf("trainer.schedule", c.Trainer.Schedule, "continual", "window")
	k.count("trainer.window_timesteps", c.Trainer.WindowTimesteps, 1, 100_000)
	k.count("trainer.passes", c.Trainer.Passes, 1, 10_000)
	k.count("trainer.workers", c.Trainer.Workers, 0, 4096)
	if c.Trainer.Kernels == "openblas" {
		k.bad("trainer.kernels", c.Trainer.Kernels, "auto, fma or portable: openblas was removed, since fma is faster")
	} else {
		k.oneOf("trainer.kernels", c.Trainer.Kernels, "auto", "fma", "portable")
	}
}

func (c Config) checkModel(k *checker) {
	alone := []string{"elliptic-gin", "trees", "logistic"}
	k.oneOf("trainer.model", c.Trainer.Model, append(alone, "blend")...)
	switch {
	case c.Trainer.Model == "logistic" && c.Trainer.Schedule != "window":
		k.bad("trainer.schedule", c.Trainer.Schedule, "window with trainer.model logistic, which is fitted anew at every timestep")
	case c.Trainer.Model == "blend" && c.Trainer.Schedule != "continual":
		k.bad("trainer.schedule", c.Trainer.Schedule, "continual with trainer.model blend, which remembers past losses")
	case c.Trainer.Model == "blend" && len(c.Trainer.Components) == 0:
		k.bad("trainer.components", c.Trainer.Components, "at least one of "+list(alone))
	}
	for i, model := range c.Trainer.Components {
		k.oneOf("trainer.components", model, alone...)
		if slices.Contains(c.Trainer.Components[:i], model) {
			k.bad("trainer.components", model, "every model once")
		}
	}
}

func (c Config) checkScoring(k *checker) {
	k.oneOf("scoring.aggregation", c.Scoring.Aggregation, "mean", "similarity")
	k.number("scoring.temperature", c.Scoring.Temperature, bounds{from: 0, to: 1000})
	k.number("scoring.threshold", c.Scoring.Threshold, bounds{from: 0, to: 1})
	k.count("scoring.label_lag_timesteps", c.Scoring.LabelLagTimesteps, 0, 1_000_000)
}
