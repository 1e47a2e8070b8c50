package role

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Replayer is a standby's Logic, which applies entries of the journal only.
type Replayer interface {
	Logic
	// Wants returns the topics to read now.
	Wants() map[bus.Topic]bool
}

// replayed is the Tail of a Replayer.
type replayed struct {
	Tail
	logic Replayer
}

// Next implements Tail.
func (r replayed) Next(ctx context.Context) (bus.Batch, error) { return r.NextOf(ctx, r.logic.Wants()) }

// StandByAgain makes an elected process a standby again, because the journal has entries that it has not applied.
func (s *Standing) StandByAgain() error {
	s.Lead.mu.Lock()
	defer s.Lead.mu.Unlock()
	s.Lead.prepared = 0
	return ErrLedElsewhere
}

// Replay orders the input of a Replayer by the journal. Records and messages wait until an entry names them.
type Replay struct {
	role      string
	partition int
	// done is the last applied entry, and queue are the next ones.
	done   journal.Position
	reader journal.Reader
	queue  []queued
	// journal is the read offset of the journal, read are those of sources, and waiting the records, or messages, that no
	// entry has named yet.
	journal  int64
	read     map[bus.TopicPartition]int64
	waiting  map[bus.TopicPartition][]ingest.Record
	messages map[bus.TopicPartition][]wire.Received
}

// queued is an entry with the offset behind it, and the one behind the previous entry.
type queued struct {
	journal.Entry
	next, behind int64
}

// mostQueued bounds the queue.
const mostQueued = 1024

// NewReplay returns a replay behind the last applied entry of a role in a partition. In journal.ForAll, which is read
// from its start, it begins with that entry: a process that was killed may not have completed it.
func NewReplay(role string, partition int, done journal.Position) *Replay {
	return &Replay{
		role: role, partition: partition, done: done, reader: journal.ReaderFrom(role, partition, done.Place),
		journal: done.Next, read: make(map[bus.TopicPartition]int64),
		waiting:  make(map[bus.TopicPartition][]ingest.Record),
		messages: make(map[bus.TopicPartition][]wire.Received),
	}
}

// Done is the last applied entry.
func (r *Replay) Done() journal.Position { return r.done }

// Take adds an input. The error is journal.ErrMalformed.
func (r *Replay) Take(in Input) error {
	source := in.Batch.Source
	for _, e := range in.Entries {
		if r.partition == journal.ForAll && e.Role == r.role && !r.done.Behind(e.Place()) {
			r.queue = append(r.queue, queued{Entry: e})
		}
	}
	switch source.Topic {
	case "":
	case bus.Control:
		r.read[source] = in.Batch.Next
	case bus.Snapshots, bus.Slices, bus.Models:
		r.messages[source] = append(r.messages[source], in.Messages...)
		r.read[source] = in.Batch.Next
	case bus.Journal:
		for _, rec := range in.Batch.Records {
			e, counts, err := r.reader.Read(rec)
			if err != nil {
				return fmt.Errorf("%s@%d: %w", source, rec.Offset, err)
			}
			if counts && e.Role == r.role {
				r.queue = append(r.queue, queued{e, rec.Offset + 1, r.journal})
				r.journal = rec.Offset + 1
			}
		}
		r.journal = in.Batch.Next
	default:
		r.waiting[source] = append(r.waiting[source], in.Batch.Records...)
		r.read[source] = in.Batch.Next
	}
	return nil
}

// From sets the offset from which a source is read.
func (r *Replay) From(source bus.TopicPartition, at int64) { r.read[source] = max(0, at) }

// Next returns the next entry, if there is one.
func (r *Replay) Next() (journal.Entry, bool) {
	if len(r.queue) == 0 {
		return journal.Entry{}, false
	}
	return r.queue[0].Entry, true
}

// Applied removes the next entry from the queue, and returns its position.
func (r *Replay) Applied() journal.Position {
	r.done, r.queue = journal.Position{Place: r.queue[0].Place(), Next: r.queue[0].next}, r.queue[1:]
	return r.done
}

// Through is the offset before which all entries are applied.
func (r *Replay) Through() int64 {
	if len(r.queue) > 0 {
		return r.queue[0].behind
	}
	return r.journal
}

// Wants returns the topics to read now: those of the next entry, control.v1 and the journal.
func (r *Replay) Wants() map[bus.Topic]bool {
	out := map[bus.Topic]bool{bus.Control: true, bus.Journal: len(r.queue) < mostQueued}
	if len(r.queue) == 0 {
		return out
	}
	if c, is := r.queue[0].Decision.(journal.Consumed); is && r.read[sourceOf(c)] < c.Next {
		out[bus.Topic(c.Topic)] = true
	}
	return out
}

func sourceOf(c journal.Consumed) bus.TopicPartition {
	return bus.TopicPartition{Topic: bus.Topic(c.Topic), Partition: c.Partition}
}

// Batch returns the records of an entry, or false if they are not read yet.
func (r *Replay) Batch(c journal.Consumed) (bus.Batch, bool) {
	source := sourceOf(c)
	if r.read[source] < c.Next {
		return bus.Batch{}, false
	}
	list := r.waiting[source]
	n, _ := slices.BinarySearchFunc(list, c.Next, func(rec ingest.Record, next int64) int {
		return cmp.Compare(rec.Offset, next)
	})
	r.waiting[source] = list[n:]
	return bus.Batch{Source: source, Records: list[:n], Next: c.Next}, true
}

// Messages returns the messages of an entry, or false if they are not read yet.
func (r *Replay) Messages(c journal.Consumed) (Input, bool) {
	batch, there := r.Batch(c)
	list := r.messages[batch.Source]
	n := 0
	for there && n < len(list) && list[n].Next <= c.Next {
		n++
	}
	if there {
		r.messages[batch.Source] = list[n:]
	}
	return Input{Batch: batch, Messages: list[:n]}, there
}
