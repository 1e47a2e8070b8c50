package bus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Topic names a topic of lethe without the configured prefix.
type Topic string

// The topics.
const (
	Transactions  Topic = "transactions.v1"
	Labels        Topic = "labels.v1"
	Erasures      Topic = "erasures.v1"
	Snapshots     Topic = "snapshots.v1"
	Slices        Topic = "slices.v1"
	Models        Topic = "models.v1"
	Control       Topic = "control.v1"
	Journal       Topic = "journal.v1"
	Predictions   Topic = "predictions.v1"
	Reasons       Topic = "reasons.v1"
	Receipts      Topic = "receipts.v1"
	ErasureStatus Topic = "erasure-status.v1"
	Log           Topic = "log.v1"
	DeadLetters   Topic = "dlq.v1"
)

// Topics lists every topic in a fixed order.
func Topics() []Topic {
	return []Topic{
		Transactions, Labels, Erasures, Snapshots, Slices, Models, Control, Journal,
		Predictions, Reasons, Receipts, ErasureStatus, Log, DeadLetters,
	}
}

// IsOwn reports whether a full name is that of one of lethe's topics, with any prefix.
func IsOwn(name string) bool {
	return slices.ContainsFunc(Topics(), func(t Topic) bool { return strings.HasSuffix(name, string(t)) })
}

// TopicPartition is one partition of a topic.
type TopicPartition struct {
	Topic     Topic
	Partition int
}

// String returns topic/partition.
func (tp TopicPartition) String() string { return fmt.Sprintf("%s/%d", tp.Topic, tp.Partition) }

// bound defines how a topic's setting may differ from the wanted value.
type bound uint8

const (
	exactly bound = iota
	atMost
	atLeast
)

// setting is the required value of one topic setting.
type setting struct {
	name, value string
	bound       bound
}

// holds reports whether a topic's actual value is acceptable.
func (s setting) holds(have string) bool {
	if have == s.value {
		return true
	}
	h, err1 := strconv.ParseFloat(have, 64)
	w, err2 := strconv.ParseFloat(s.value, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	switch s.bound {
	case atMost:
		return h <= w
	case atLeast:
		return h >= w
	default:
		return h == w
	}
}

// spec is the required configuration of a topic.
type spec struct {
	topic      Topic
	partitions int
	settings   []setting
	// expires means that the broker may drop records that no later record has replaced,
	// so that a position before the start of the log means a loss.
	expires bool
}

func busy(t Topic) bool {
	switch t {
	case Transactions, Labels, Slices, Models, Predictions, Reasons:
		return true
	default:
		return false
	}
}

const (
	// messageBytes is the brokers' default, set explicitly so that a broker with a
	// smaller default is detected.
	messageBytes = 1_048_588
	// deadLetterBytes leaves room for the headers around a record of the
	// largest size.
	deadLetterBytes = 2 * messageBytes
	// segmentBytes is the size at which a log starts a new segment, so that the old one
	// can be compacted. Apache Kafka 4 rejects less than 1 MiB.
	segmentBytes = 16 << 20
	// requestLag is the CleaningLag of erasure requests, whose topic is small: they hold ids, and
	// an erasure is complete only once they have been cleaned.
	requestLag = time.Second
	// fileDeletionDelay is the time until a broker deletes a file that compaction has
	// replaced; the default is a minute.
	fileDeletionDelay = time.Second
)

// CleaningLag is the time after which a record that was replaced or deleted may be
// cleaned: a new segment is started, and compaction is due.
const CleaningLag = 5 * time.Second

// minInSync is how many of a partition's replicas must have a record before a write is
// acknowledged: all but one, two at most, so that one broker may be unavailable. It
// depends on the number of replicas: a larger value would make all writes fail.
func minInSync(replicas int) setting {
	return setting{"min.insync.replicas", strconv.Itoa(max(1, min(2, replicas-1))), atLeast}
}

// specOf returns the required configuration of a topic.
//
// Every topic but the journal is compacted soon and in full: a tombstone is how lethe erases, so delete.retention.ms
// is 0, and no dirty ratio keeps a log from being compacted once a record in it is older than the lag. Nor does a
// dirty ratio trigger a compaction earlier: each one rewrites the whole log, and under load it would run for every
// segment. Records are not compressed by the broker, so that a search for an erased id in its files cannot miss it.
// Retention is disabled where records must stay: the embedded broker applies it to compacted topics too. Erasure
// requests also expire, because they hold ids and old ones are not read. The journal is kept whole: a fenced entry
// must not replace a valid one.
func specOf(t Topic, cfg *Config) spec {
	s := spec{topic: t, partitions: cfg.partitions(t)}
	policy, retention, lagTime := "compact", "-1", CleaningLag
	switch t {
	case Journal:
		policy = "delete"
	case Erasures:
		policy, lagTime = "compact,delete", requestLag
		if cfg.ErasureRetention >= 0 {
			s.expires = true
			retention = strconv.FormatInt(cfg.ErasureRetention.Milliseconds(), 10)
		}
	default:
	}
	deletionDelay := strconv.FormatInt(fileDeletionDelay.Milliseconds(), 10)
	lag := strconv.FormatInt(lagTime.Milliseconds(), 10)
	s.settings = []setting{
		{"cleanup.policy", policy, exactly},
		{"compression.type", "uncompressed", exactly},
		{"delete.retention.ms", "0", exactly},
		{"file.delete.delay.ms", deletionDelay, atMost},
		{"max.compaction.lag.ms", lag, atMost},
		{"max.message.bytes", strconv.Itoa(largest(t)), atLeast},
		// With the producer's timestamps, a segment would end only when the clock of the
		// furthest-ahead producer is reached, and nothing in it would be cleaned before.
		{"message.timestamp.type", "LogAppendTime", exactly},
		{"min.cleanable.dirty.ratio", "1", atMost},
		{"retention.bytes", "-1", exactly},
		{"retention.ms", retention, exactly},
		{"segment.bytes", strconv.Itoa(segmentBytes), atMost},
		{"segment.ms", lag, atMost},
	}
	return s
}

// largest is the maximum size of a record of a topic, including framing.
func largest(t Topic) int {
	if t == DeadLetters {
		return deadLetterBytes
	}
	return messageBytes
}
