package embedded

import (
	"time"

	"lethe/internal/check"
)

// Config shapes the broker.
type Config struct {
	// Port is where it listens on 127.0.0.1; 0 picks a free one.
	Port int `yaml:"port" help:"Port on 127.0.0.1; 0 picks a free one."`
	// SyncWrites makes every record survive a power failure, not only the end
	// of the process.
	SyncWrites bool `yaml:"sync_writes" help:"Make every record survive a power failure, at a price."`
	// CleanInterval is the least time between compactions. Where somebody waits for an erased
	// record to go, it bounds, with the rest after a compaction, how long that stays in the
	// broker's files.
	CleanInterval time.Duration `yaml:"clean_interval" help:"Least time between compactions, which remove erased records."`
	// CleanOnDemand leaves compaction to Broker.Compact alone.
	CleanOnDemand bool `yaml:"-"`
	// Connections is how many clients may be connected at a time; 0 stands for 2,048.
	Connections int `yaml:"-"`
	// DeleteTopics lets clients delete lethe's own topics. A broker that serves nobody but one command may need it.
	DeleteTopics bool `yaml:"-"`
	// StoreAny accepts batches that readers refuse, as Apache Kafka does, for tests of readers.
	StoreAny bool `yaml:"-"`
}

// Defaults returns the configuration of the broker that `lethe run` brings.
func Defaults() Config {
	// Kafka's own port, so that `lethe replay` in another terminal finds it.
	return Config{Port: 9092, CleanInterval: time.Second}
}

// defaultConnections is more than the processes of a deployment on one machine use: lethe alone has 27, and 8 for each
// partition.
const defaultConnections = 2048

func (c Config) connections() int {
	if c.Connections > 0 {
		return c.Connections
	}
	return defaultConnections
}

// Validate reports every value that is out of bounds.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("port", c.Port, 0, 65535)
	if !c.CleanOnDemand {
		p.Duration("clean_interval", c.CleanInterval, 10*time.Millisecond, time.Hour)
	}
	return p.Err()
}
