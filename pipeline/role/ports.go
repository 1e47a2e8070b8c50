package role

import (
	"context"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
)

// Bus is what a role needs of the topics.
type Bus interface {
	// Partitions returns how many partitions a topic has.
	Partitions(ctx context.Context, t bus.Topic) (int, error)
	// EndOffsets returns, by partition of a topic, the position after the last record.
	EndOffsets(ctx context.Context, t bus.Topic) ([]int64, error)
	// Follow begins to read partitions, each from its position on, for ever.
	Follow(positions map[bus.TopicPartition]int64) (Tail, error)
	// Write returns once the records are stored in the topic. On an error any
	// part of them may be there.
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
	// ReadAll gives fn the records of a topic, each partition's in their order, up to where it ends.
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
	// ReadOn is ReadAll of a partition from a position on; it returns where the partition ends.
	ReadOn(ctx context.Context, tp bus.TopicPartition, from int64, fn func(ingest.Record) error) (end int64, err error)
}

// Tail is the reading end of some partitions.
type Tail interface {
	// Next waits for the next batch of any partition. After
	// bus.ErrInterrupted it may be called again.
	Next(ctx context.Context) (bus.Batch, error)
	// NextOf is Next of some topics alone; what there is of others waits.
	NextOf(ctx context.Context, topics map[bus.Topic]bool) (bus.Batch, error)
	Close() error
}

// Sharer is how the processes of a role share its work; bus.Sharer is one.
type Sharer interface {
	// Share has the process take part until the context ends, see bus.Sharer.
	Share(ctx context.Context, g bus.GroupConfig, m bus.Member) error
	// Positions returns up to where the group's members have said that partitions are dealt with.
	Positions(ctx context.Context, g bus.GroupConfig, of []bus.TopicPartition) (map[bus.TopicPartition]int64, error)
	// Session is after which silence a process's part of the work goes to others.
	Session() time.Duration
}

// Store is what a role needs of a store: *mixedstore.Store is one.
type Store interface {
	swapstore.Reader
	// Apply makes changes; they are durable when it returns nil. Files that it
	// replaces or deletes are gone from the disk then. For what a crash leaves of
	// it, see mixedstore.
	Apply(fn func(w swapstore.Writer) error) error
	Close() error
}
