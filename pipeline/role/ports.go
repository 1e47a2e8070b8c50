package role

import (
	"context"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
)

// Bus is the topics as a role uses them.
type Bus interface {
	// Partitions returns the number of partitions of a topic.
	Partitions(ctx context.Context, t bus.Topic) (int, error)
	// EndOffsets returns the end offset of each partition of a topic.
	EndOffsets(ctx context.Context, t bus.Topic) ([]int64, error)
	// Follow starts reading partitions from their offsets on.
	Follow(positions map[bus.TopicPartition]int64) (Tail, error)
	// Write returns once the records are stored in the topic. After an error any of them may be there.
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
	// ReadAll calls fn with the records of a topic up to its present end, in the order of each partition.
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
	// ReadOn is ReadAll of a partition from an offset on; it returns the end offset.
	ReadOn(ctx context.Context, tp bus.TopicPartition, from int64, fn func(ingest.Record) error) (end int64, err error)
}

// Tail is the reading end of some partitions.
type Tail interface {
	// Next waits for the next batch of any partition. It may be called again after bus.ErrInterrupted.
	Next(ctx context.Context) (bus.Batch, error)
	// NextOf is Next of some topics; batches of others wait.
	NextOf(ctx context.Context, topics map[bus.Topic]bool) (bus.Batch, error)
	Close() error
}

// Sharer shares a role among processes; bus.Sharer is one.
type Sharer interface {
	// Share makes the process a member until the context ends, see bus.Sharer.
	Share(ctx context.Context, g bus.GroupConfig, m bus.Member) error
	// Positions returns the committed offsets of the group.
	Positions(ctx context.Context, g bus.GroupConfig, of []bus.TopicPartition) (map[bus.TopicPartition]int64, error)
	// Session is the time without a heartbeat after which a member's part goes to others.
	Session() time.Duration
}

// Store is a store as a role uses it: *mixedstore.Store is one.
type Store interface {
	swapstore.Reader
	// Apply makes changes, which are durable when it returns nil. Files that it replaces or deletes are deleted from disk
	// then. For crashes see mixedstore.
	Apply(fn func(w swapstore.Writer) error) error
	Close() error
}
