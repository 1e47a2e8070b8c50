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
	// StoreAny has the broker store batches that no reader can read, for tests of readers.
	StoreAny bool `yaml:"-"`
}

// Defaults returns the configuration of the broker that `lethe run` brings.
func Defaults() Config {
	// Kafka's own port, so that `lethe replay` in another terminal finds it.
	return Config{Port: 9092, CleanInterval: time.Second}
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
