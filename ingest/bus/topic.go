package bus

import "fmt"

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
		Transactions, Labels, Erasures, Snapshots, Slices, Models,
		Predictions, Reasons, Receipts, ErasureStatus, Log, DeadLetters,
	}
}

// TopicPartition is one partition of a topic.
type TopicPartition struct {
	Topic     Topic
	Partition int
}

// String returns topic/partition.
func (tp TopicPartition) String() string { return fmt.Sprintf("%s/%d", tp.Topic, tp.Partition) }
