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

// IsOwn reports whether a full name is that of a topic of lethe's, under whatever prefix.
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

// bound says how a topic's setting may differ from the wanted value.
type bound uint8

const (
	exactly bound = iota
	atMost
	atLeast
)

// setting is one topic setting as lethe needs it.
type setting struct {
	name, value string
	bound       bound
}

// holds reports whether the value a topic has will do.
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

// spec is what a topic must be like.
type spec struct {
	topic      Topic
	partitions int
	settings   []setting
	// expires says that the broker may drop records that no later record
	// replaced, so that a position before the log's start means a loss.
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
	// messageBytes is the brokers' default; recorded so that a broker with a
	// smaller one is noticed.
	messageBytes = 1_048_588
	// deadLetterBytes leaves room for the headers around a record of the
	// largest size.
	deadLetterBytes = 2 * messageBytes
	// segmentBytes is how much a log grows before its oldest part may be
	// compacted. Apache Kafka 4 refuses less than 1 MiB.
	segmentBytes = 16 << 20
	// requestLag is CleaningLag of requests for erasure, whose topic is small: they hold ids, and the last
	// thing that an erasure waits for is that they are gone.
	requestLag = time.Second
	// fileDeletionDelay is how long a broker keeps a file that compaction has
	// replaced; its default is a minute.
	fileDeletionDelay = time.Second
)

// CleaningLag is how soon a record that was replaced or deleted may be
// removed: a new segment is started after it, and compaction is due.
const CleaningLag = 5 * time.Second

// minInSync is how many of a partition's replicas must have a record before a write is
// answered: all but one, two at most, so that one broker may be away. It follows from the
// replicas that there are: with more than those, nothing could be written.
func minInSync(replicas int) setting {
	return setting{"min.insync.replicas", strconv.Itoa(max(1, min(2, replicas-1))), atLeast}
}

// specOf tells what a topic must be like.
//
// Every topic but the journal is compacted soon and in full: a tombstone is how lethe
// erases, so delete.retention.ms is 0, and no share of garbage keeps a log from
// being compacted once something in it is older than the lag. Nor does a share
// have it compacted before: each time a broker writes all that the log holds
// anew, and while much is written it would do so for every segment.
// Records are not compressed by the broker, so that a search for an erased id
// in its files cannot miss it. Retention is set off where records must stay:
// the embedded broker applies it to compacted topics too. Erasure requests
// also expire, because they hold ids and nobody reads old ones. The journal is kept whole: an entry that was fenced
// must not stand in the place of one that counts.
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
		// By the time that a producer gives, no segment ends until the clock of one that is ahead is reached, and
		// nothing in it is cleaned.
		{"message.timestamp.type", "LogAppendTime", exactly},
		{"min.cleanable.dirty.ratio", "1", atMost},
		{"retention.bytes", "-1", exactly},
		{"retention.ms", retention, exactly},
		{"segment.bytes", strconv.Itoa(segmentBytes), atMost},
		{"segment.ms", lag, atMost},
	}
	return s
}

// largest is how much a record of a topic may take, with what surrounds it.
func largest(t Topic) int {
	if t == DeadLetters {
		return deadLetterBytes
	}
	return messageBytes
}
