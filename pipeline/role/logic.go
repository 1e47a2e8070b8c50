package role

import (
	"context"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Logic is a role without its surroundings. One goroutine uses it at a time.
type Logic interface {
	// Topics are the topics that the role follows beside the erasure notices,
	// which every role reads from their start: they are few, and requests under
	// way at a crash must be dealt with.
	Topics() []bus.Topic
	// Resume returns from where a partition is read: everything before it has
	// become state. count is the topic's number of partitions.
	Resume(source bus.TopicPartition, count int) (int64, error)
	// Step takes what has arrived into the state, then does the next thing that is
	// due. It is called with nothing new until it is idle. now is asked where time
	// is measured and decides nothing. Work that a step begins beside the loop ends
	// when ctx does, and Close waits for it.
	Step(ctx context.Context, now func() time.Time, in Input) (Output, error)
	// Status is what the role knows after the last step. It is not changed later.
	Status() *Status
	// Close closes the stores.
	Close() error
}

// Preparer is a Logic that works out ahead what it needs of a batch, while it deals with the one before. Prepare runs
// in another goroutine than all else, and so it touches no state; what it returns comes with the batch, as
// Input.Prepared, unless the batch comes otherwise.
type Preparer interface {
	Prepare(batch bus.Batch) any
}

// Input is what one batch of a partition brought. Zero is nothing.
type Input struct {
	// Batch is what was read.
	Batch bus.Batch
	// Prepared is what a Preparer has made of it, or nil.
	Prepared any
	// Messages are those that it completes, on topics of graphs, slices and models.
	Messages []wire.Received
	// Notices are those of control.v1, and statuses of erasure-status.v1.
	Notices []wire.Notice
	// Late are records that a fenced leader wrote late, on Surroundings.Own or control.v1, or that are copies of what a
	// leader wrote before. They replace what the leader has published under their keys, which it publishes again.
	Late []ingest.Record
	// Entries are those of the journal that count.
	Entries []journal.Entry
	// Ticked says that Surroundings.Tick has passed once more.
	Ticked bool
}

// Output is what a step asks for. It publishes to one topic at most, so that
// whatever ends the process falls between two steps.
type Output struct {
	// Messages are artefacts that share a topic.
	Messages []wire.Message
	// Records go to Topic as they are.
	Topic   bus.Topic
	Records []ingest.Outgoing
	// Note, if not nil, is called once everything is published: it puts into the
	// state that it was. If the process ends before, the step comes again, with
	// the same keys and the same content.
	Note func() error
	// Idle says that nothing is due until something arrives.
	Idle bool
	// Waits says of who is idle that something is due of what was read, once time has passed or work
	// beside the loop is done.
	Waits bool
}
