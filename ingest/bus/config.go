package bus

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"
)

// Config says where the brokers are and how to treat them. Only Brokers is
// required.
type Config struct {
	// Brokers are the host:port addresses to start from.
	Brokers []string
	// TopicPrefix starts the full name of every topic. Default "lethe.".
	TopicPrefix string
	// ClientID names this program to the brokers. Default "lethe".
	ClientID string
	// Partitions overrides the number of partitions of topics in Apply and
	// Check. Default 4 for transactions, labels, slices, models and
	// predictions, 1 for the rest.
	Partitions map[Topic]int
	// ReplicationFactor of topics that Apply creates. Default -1: the
	// broker's own default.
	ReplicationFactor int
	// ErasureRetention is how long a broker keeps erasure requests that were
	// not purged. Default 7 days. Negative: until they are purged.
	ErasureRetention time.Duration
	// DialTimeout bounds one attempt to connect. Default 5 s.
	DialTimeout time.Duration
	// RequestTimeout bounds one request. Default 10 s.
	RequestTimeout time.Duration
	// WriteTimeout bounds a Write with all its attempts. Default 30 s.
	WriteTimeout time.Duration
	// FetchWait is how long a broker holds a fetch that finds nothing.
	// Default 500 ms.
	FetchWait time.Duration
	// MaxBatchBytes bounds what one produce request carries and one fetch asks
	// for, per partition. Default 900,000: under the brokers' default limit of
	// 1 MiB with its framing.
	MaxBatchBytes int
	// MaxBatchRecords bounds the records of one produce request and of one
	// Batch of a Tail. Default 1,000.
	MaxBatchRecords int
	// Now dates records without a time. Default time.Now.
	Now func() time.Time
}

// Clone returns a copy that shares nothing with c.
func (c Config) Clone() Config {
	c.Brokers = slices.Clone(c.Brokers)
	c.Partitions = maps.Clone(c.Partitions)
	return c
}

// EnsureDefaults fills in what is zero.
func (c *Config) EnsureDefaults() {
	setDefault(&c.TopicPrefix, "lethe.")
	setDefault(&c.ClientID, "lethe")
	setDefault(&c.ReplicationFactor, -1)
	setDefault(&c.ErasureRetention, 7*24*time.Hour)
	setDefault(&c.DialTimeout, 5*time.Second)
	setDefault(&c.RequestTimeout, 10*time.Second)
	setDefault(&c.WriteTimeout, 30*time.Second)
	setDefault(&c.FetchWait, 500*time.Millisecond)
	setDefault(&c.MaxBatchBytes, 900_000)
	setDefault(&c.MaxBatchRecords, 1000)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Partitions == nil {
		c.Partitions = map[Topic]int{}
	}
	for _, t := range Topics() {
		if _, given := c.Partitions[t]; !given {
			c.Partitions[t] = defaultPartitions(t)
		}
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate reports everything that is wrong.
func (c *Config) Validate() error {
	var problems []error
	complain := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(c.Brokers) == 0 {
		complain("no broker address")
	}
	for i, address := range c.Brokers {
		if address == "" {
			complain("broker address %d is empty", i)
		}
	}
	// A topic's full name may have 249 characters; the longest own name has 17.
	if !regexp.MustCompile(`^[A-Za-z0-9._-]{0,200}$`).MatchString(c.TopicPrefix) {
		complain("topic prefix %q is not at most 200 of A-Z a-z 0-9 . _ -", c.TopicPrefix)
	}
	for _, t := range slices.Sorted(maps.Keys(c.Partitions)) {
		if !slices.Contains(Topics(), t) {
			complain("partitions are given for %q, which is no topic", t)
		}
		if n := c.Partitions[t]; n < 1 || n > 10_000 {
			complain("partitions of %s are %d, want 1..10000", t, n)
		}
	}
	if c.ReplicationFactor != -1 && (c.ReplicationFactor < 1 || c.ReplicationFactor > 100) {
		complain("replication factor is %d, want -1 or 1..100", c.ReplicationFactor)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"dial timeout", c.DialTimeout},
		{"request timeout", c.RequestTimeout},
		{"write timeout", c.WriteTimeout},
		{"fetch wait", c.FetchWait},
	} {
		if d.value < time.Millisecond {
			complain("%s is %v, want at least 1ms", d.name, d.value)
		}
	}
	if c.MaxBatchBytes < 1 || c.MaxBatchBytes > 1<<30 {
		complain("max batch bytes is %d, want 1..%d", c.MaxBatchBytes, 1<<30)
	}
	if c.MaxBatchRecords < 1 {
		complain("max batch records is %d, want at least 1", c.MaxBatchRecords)
	}
	return errors.Join(problems...)
}
