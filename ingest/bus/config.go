package bus

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"lethe/ingest/bus/secure"
	"lethe/internal/check"
)

// Forever as Config.ErasureRetention retains erasure requests until they are purged.
const Forever = -1

// Config holds the addresses of the brokers and the settings of their clients.
type Config struct {
	// Brokers are the bootstrap addresses, host:port.
	Brokers []string `yaml:"brokers" help:"Kafka brokers, host:port; none for the embedded broker."`
	// TopicPrefix starts the full name of every topic.
	TopicPrefix string `yaml:"topic_prefix" help:"What stands before every topic's name."`
	// Partitions is the number of partitions of transactions, labels, slices,
	// models, predictions and reasons in Apply and Check. Other topics have one.
	Partitions int `yaml:"partitions" help:"Partitions of the busy topics, when they are created."`
	// ReplicationFactor is the factor of topics that Apply creates, and the minimum for
	// Check. 0 means 3, or the number of brokers if that is smaller.
	ReplicationFactor int `yaml:"replication_factor" help:"Brokers that keep each record; 0: 3, or all of fewer."`
	// SessionTimeout is the silence after which a process's work is given to the other
	// processes of its role. Brokers bound it: group.min.session.timeout.ms is 6 s by
	// default.
	SessionTimeout time.Duration `yaml:"session_timeout" help:"After which silence others take over a process's work."`
	// Rack is the rack of this process, as in the brokers' broker.rack: topics are read from a
	// replica in the same rack, if the brokers' replica.selector.class selects one (KIP-392); else
	// from the leaders.
	Rack string `yaml:"rack" help:"This process's rack, as brokers' broker.rack; topics are then read from there."`
	// TLS and SASL configure encryption and lethe's credentials.
	TLS  secure.TLS  `yaml:"tls"`
	SASL secure.SASL `yaml:"sasl"`
	// PartitionsOf overrides Partitions for single topics.
	PartitionsOf map[Topic]int `yaml:"-"`
	// Around, if not nil, lets ReadAll and ReadNew skip damaged ranges, and is called for
	// each.
	Around func(*Gap) `yaml:"-"`
	// ClientID identifies this program to the brokers.
	ClientID string `yaml:"-"`
	// ErasureRetention is how long a broker retains erasure requests that were not
	// purged, or Forever.
	ErasureRetention time.Duration `yaml:"-"`
	// DialTimeout bounds one attempt to connect.
	DialTimeout time.Duration `yaml:"-"`
	// RequestTimeout bounds one request. It includes FetchWait if that is less than half of it.
	RequestTimeout time.Duration `yaml:"-"`
	// WriteTimeout bounds a Write with all its attempts.
	WriteTimeout time.Duration `yaml:"-"`
	// FetchWait is how long a broker holds a fetch that finds nothing. A fetch that finds records
	// returns at once, so a short time only causes more requests.
	FetchWait time.Duration `yaml:"-"`
	// MaxBatchBytes bounds one produce request, per partition.
	MaxBatchBytes int `yaml:"-"`
	// MaxBatchRecords bounds the records of one produce request.
	MaxBatchRecords int `yaml:"-"`
	// MaxFetchBytes bounds one fetch. Callers that persist state after every fetched
	// batch do so less often the larger it is.
	MaxFetchBytes int `yaml:"-"`
	// MaxTailRecords bounds the records of one Batch of a Tail.
	MaxTailRecords int `yaml:"-"`
}

// Defaults returns a configuration without brokers. Batches stay under the
// brokers' default limit of 1 MiB with its framing.
func Defaults() Config {
	return Config{
		Brokers: []string{}, TopicPrefix: "lethe.", Partitions: 4, SessionTimeout: 6 * time.Second,
		ClientID: "lethe", ErasureRetention: 7 * 24 * time.Hour,
		DialTimeout: 5 * time.Second, RequestTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		FetchWait: 2 * time.Second, MaxBatchBytes: 900_000, MaxBatchRecords: 1000,
		MaxFetchBytes: 4 << 20, MaxTailRecords: 8000,
	}
}

// At returns the defaults with these brokers.
func At(brokers ...string) Config {
	c := Defaults()
	c.Brokers = brokers
	return c
}

// Clone returns a copy that shares nothing with c.
func (c Config) Clone() Config {
	c.Brokers = slices.Clone(c.Brokers)
	c.PartitionsOf = maps.Clone(c.PartitionsOf)
	return c
}

// Name returns a topic's full name.
func (c Config) Name(t Topic) string { return c.TopicPrefix + string(t) }

// names returns the full names of all topics.
func (c Config) names() []string {
	names := make([]string, 0, len(Topics()))
	for _, t := range Topics() {
		names = append(names, c.Name(t))
	}
	return names
}

// fetchLimit is the time limit of a fetch. A fetch that the broker held returns little data, so the
// hold is included in the request's time: otherwise a longer hold would delay the detection of a
// hung broker.
func (c Config) fetchLimit() time.Duration {
	return max(c.RequestTimeout, c.FetchWait+c.RequestTimeout/2)
}

// partitions returns how many partitions a topic has.
func (c Config) partitions(t Topic) int {
	if n, named := c.PartitionsOf[t]; named {
		return n
	}
	if busy(t) {
		return c.Partitions
	}
	return PartitionsAlways(t)
}

// PartitionsAlways is how many a topic has that is not busy.
func PartitionsAlways(t Topic) int {
	if t == Journal {
		return 2
	}
	return 1
}

// replication is the number of replicas of each record.
func (c Config) replication(brokers int) int {
	if c.ReplicationFactor > 0 {
		return c.ReplicationFactor
	}
	const enough = 3 // one may be down for maintenance and another one fail
	return max(1, min(enough, brokers))
}

// Validate reports all problems at once. It accepts a configuration without brokers,
// which Open does not.
func (c Config) Validate() error {
	var p check.Problems
	for i, broker := range c.Brokers {
		p.HostPort("brokers", broker)
		p.Once("brokers", "broker", c.Brokers, i)
	}
	// Kafka's rule for topic names, with room for the longest of ours under its
	// limit of 249 characters.
	p.That(regexp.MustCompile(`^[a-zA-Z0-9._-]{0,200}$`).MatchString(c.TopicPrefix), "topic_prefix", c.TopicPrefix,
		"at most 200 letters, digits, dots, underscores and hyphens")
	p.Within("", secure.Config{TLS: c.TLS, SASL: c.SASL}.Validate())
	p.Whole("partitions", c.Partitions, 1, 1000)
	p.Whole("replication_factor", c.ReplicationFactor, 0, 100)
	for _, t := range slices.Sorted(maps.Keys(c.PartitionsOf)) {
		p.That(slices.Contains(Topics(), t), "partitions_of", string(t), "a topic")
		p.Whole("partitions_of."+string(t), c.PartitionsOf[t], 1, 1000)
	}
	p.Duration("session_timeout", c.SessionTimeout, time.Second, time.Hour)
	p.Duration("dial_timeout", c.DialTimeout, time.Millisecond, time.Hour)
	p.Duration("request_timeout", c.RequestTimeout, time.Millisecond, time.Hour)
	p.Duration("write_timeout", c.WriteTimeout, time.Millisecond, time.Hour)
	p.Duration("fetch_wait", c.FetchWait, time.Millisecond, time.Hour)
	p.Whole("max_batch_bytes", c.MaxBatchBytes, 1, 1<<30)
	p.AtLeast("max_batch_records", c.MaxBatchRecords, 1)
	p.Whole("max_fetch_bytes", c.MaxFetchBytes, 1, 1<<30)
	p.AtLeast("max_tail_records", c.MaxTailRecords, 1)
	return p.Err()
}
