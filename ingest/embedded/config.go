package embedded

import (
	"time"

	"lethe/internal/check"
)

// Config configures the broker.
type Config struct {
	// Port is the port on 127.0.0.1; 0 picks a free one.
	Port int `yaml:"port" help:"Port on 127.0.0.1; 0 picks a free one."`
	// SyncWrites makes every record survive a power failure, not only the end
	// of the process.
	SyncWrites bool `yaml:"sync_writes" help:"Make every record survive a power failure, at a price."`
	// CleanInterval is the minimum time between compactions. When an erasure waits for a record to
	// be removed, it bounds, with the pause after a compaction, how long the record stays in the
	// broker's files.
	CleanInterval time.Duration `yaml:"clean_interval" help:"Least time between compactions, which remove erased records."`
	// CleanOnDemand disables the cleaner: only Broker.Compact compacts.
	CleanOnDemand bool `yaml:"-"`
	// Connections is the maximum number of connections; 0 means 2,048.
	Connections int `yaml:"-"`
	// DeleteTopics lets clients delete lethe's own topics, for a broker that serves a single command.
	DeleteTopics bool `yaml:"-"`
	// StoreAny accepts batches that readers reject, as Apache Kafka does, for tests of readers.
	StoreAny bool `yaml:"-"`
}

// Defaults returns the configuration of the broker in `lethe run`.
func Defaults() Config {
	// Kafka's own port, so that `lethe replay` in another terminal finds it.
	return Config{Port: 9092, CleanInterval: time.Second}
}

// defaultConnections is more than the processes of a deployment on one machine use: lethe alone has 27, and 8 for
// each partition.
const defaultConnections = 2048

func (c Config) connections() int {
	if c.Connections > 0 {
		return c.Connections
	}
	return defaultConnections
}

// Validate reports every value that is out of range.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("port", c.Port, 0, 65535)
	if !c.CleanOnDemand {
		p.Duration("clean_interval", c.CleanInterval, 10*time.Millisecond, time.Hour)
	}
	return p.Err()
}
