package role

import (
	"context"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Logic is the step function of a role. One goroutine uses it at a time.
type Logic interface {
	// Topics are the topics of the role besides control.v1 and journal.v1, which every role reads from their start: they
	// are short, and open requests must be known after a crash.
	Topics() []bus.Topic
	// Resume returns the offset from which to read a partition: everything before is in the state. count is the topic's
	// number of partitions.
	Resume(source bus.TopicPartition, count int) (int64, error)
	// Step processes an input, then does the next work that is due. It is called with an empty input until it is idle.
	// now only measures durations: a logic that waits for a time has a clock of its own. Work beside the loop ends with
	// ctx, and Close waits for it.
	Step(ctx context.Context, now func() time.Time, in Input) (Output, error)
	// Status returns the status after the last step. It is not changed later.
	Status() *Status
	// Close closes the stores.
	Close() error
}

// Preparer is a Logic that prepares a batch while it processes the previous one. Prepare runs in another goroutine and
// must not use state. Its result is Input.Prepared, unless the batch was not read ahead.
type Preparer interface {
	Prepare(batch bus.Batch) any
}

// Input is the decoded content of a batch. The zero value is empty.
type Input struct {
	// Batch is the batch, without decoded records.
	Batch bus.Batch
	// Prepared is the result of a Preparer, or nil.
	Prepared any
	// Messages are the messages of graphs, slices and models that it completes.
	Messages []wire.Received
	// Notices are the records of control.v1, and statuses of erasure-status.v1.
	Notices []wire.Notice
	// Late are late records of a fenced leader on Surroundings.Own or control.v1, and copies of a leader's records. They
	// replace the leader's records of the same keys, which it publishes again.
	Late []ingest.Record
	// Entries are the valid entries of the journal.
	Entries []journal.Entry
	// Ticked means that Surroundings.Tick has passed again.
	Ticked bool
}

// Output is the output of a step. It has records of one topic at most, so that a crash falls between two steps.
type Output struct {
	// Messages are artefacts of one topic.
	Messages []wire.Message
	// Records are written to Topic.
	Topic   bus.Topic
	Records []ingest.Outgoing
	// Note, if not nil, is called once everything is published, and persists that. If the process ends before, the step is
	// repeated with the same keys and content.
	Note func() error
	// Idle means that no work is due until the next input.
	Idle bool
	// Waits means that an idle logic will have work for records read, later or when work beside the loop is done.
	Waits bool
}
