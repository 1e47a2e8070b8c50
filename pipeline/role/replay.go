package role

import (
	"cmp"
	"context"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Replayer is a Logic that, as it stands by, does what entries of the journal say and nothing else.
type Replayer interface {
	Logic
	// Wants are the topics of which it takes more now.
	Wants() map[bus.Topic]bool
}

// replayed is the reading end of a Replayer.
type replayed struct {
	Tail
	logic Replayer
}

// Next implements Tail.
func (r replayed) Next(ctx context.Context) (bus.Batch, error) { return r.NextOf(ctx, r.logic.Wants()) }

// StandByAgain has a process that is about to lead read on first: others have decided something since.
func (s *Standing) StandByAgain() error {
	s.Lead.mu.Lock()
	defer s.Lead.mu.Unlock()
	s.Lead.prepared = 0
	return ErrLedElsewhere
}

// Replay is how far a Replayer has done what the journal says. Records and messages wait until an entry names them.
type Replay struct {
	role      string
	partition int
	// done is the last entry that was done, and queue are those that are to be done.
	done   journal.Position
	reader journal.Reader
	queue  []queued
	// journal is up to where the journal was read, read up to where sources were, and waiting the records, or messages,
	// among that which no entry has had taken.
	journal  int64
	read     map[bus.TopicPartition]int64
	waiting  map[bus.TopicPartition][]ingest.Record
	messages map[bus.TopicPartition][]wire.Received
}

// queued is an entry behind which the journal goes on, and behind which other one it is done.
type queued struct {
	journal.Entry
	next, behind int64
}

// mostQueued bounds the entries that wait.
const mostQueued = 1024

// NewReplay begins behind the last entry of a role in a partition that was done. In that for all roles, which is read
// from its start, it begins with that entry: a process that was killed may not have done all of it.
func NewReplay(role string, partition int, done journal.Position) *Replay {
	return &Replay{
		role: role, partition: partition, done: done, reader: journal.ReaderFrom(role, partition, done.Place),
		journal: done.Next, read: make(map[bus.TopicPartition]int64),
		waiting:  make(map[bus.TopicPartition][]ingest.Record),
		messages: make(map[bus.TopicPartition][]wire.Received),
	}
}

// Done is the last entry that was done.
func (r *Replay) Done() journal.Position { return r.done }

// Take takes what has arrived.
func (r *Replay) Take(in Input) {
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
			if err == nil && counts && e.Role == r.role {
				r.queue = append(r.queue, queued{e, rec.Offset + 1, r.journal})
				r.journal = rec.Offset + 1
			}
		}
		r.journal = in.Batch.Next
	default:
		r.waiting[source] = append(r.waiting[source], in.Batch.Records...)
		r.read[source] = in.Batch.Next
	}
}

// From is where a source is read from.
func (r *Replay) From(source bus.TopicPartition, at int64) { r.read[source] = max(0, at) }

// Next is the entry that is to be done, or false if there is none yet.
func (r *Replay) Next() (journal.Entry, bool) {
	if len(r.queue) == 0 {
		return journal.Entry{}, false
	}
	return r.queue[0].Entry, true
}

// Did goes on behind the next entry, and returns where that is.
func (r *Replay) Did() journal.Position {
	r.done, r.queue = journal.Position{Place: r.queue[0].Place(), Next: r.queue[0].next}, r.queue[1:]
	return r.done
}

// Through is up to where all of the journal is done.
func (r *Replay) Through() int64 {
	if len(r.queue) > 0 {
		return r.queue[0].behind
	}
	return r.journal
}

// Wants are the topics of which more is taken now: the records that the next entry names, and what waits for nothing.
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

// Batch returns the records of an entry, or false if they are still to be read.
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

// Messages returns the messages that end with what an entry names, or false if they are still to be read.
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
