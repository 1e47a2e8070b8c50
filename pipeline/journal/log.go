package journal

import (
	"context"
	"errors"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// ErrFenced is returned to a process whose entries are no longer valid: another one has begun an epoch of the role.
var ErrFenced = errors.New("another process leads")

// Topics reads the journal's topic.
type Topics interface {
	// ReadOn reads a partition from an offset on, and returns its end offset.
	ReadOn(ctx context.Context, tp bus.TopicPartition, from int64, fn func(ingest.Record) error) (end int64, err error)
}

// Write writes records to a topic once brokers have confirmed that the process leads.
type Write func(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error

// Position is the place of an entry that was applied, and the offset behind it.
type Position struct {
	Place
	Next int64
}

// Log is the journal of a role, for a process that has the role. One goroutine uses it.
type Log struct {
	apply    func(Entry)
	topics   Topics
	of       log
	instance string
	epoch    int64
	reader   Reader
	next     int64
	// before is the place of the last entry of the previous epoch.
	before Place
	// own is the position of this process's last entry that was read back.
	own Position
}

// Open returns the entries of a role in a partition of the journal, from a position on; the zero value is the start.
func Open(topics Topics, partition int, role, instance string, from Position) *Log {
	l := &Log{topics: topics, of: log{role, partition}, instance: instance, next: from.Next}
	l.reader.begin(l.of, from.Place)
	return l
}

// Epoch is the epoch that the process has begun, or 0.
func (l *Log) Epoch() int64 { return l.epoch }

// Done is the position of this process's last entry that was read back.
func (l *Log) Done() Position { return l.own }

// Before is the place of the role's last entry before the newest epoch.
func (l *Log) Before() Place { return l.before }

// Newest is the newest epoch of the role that was read.
func (l *Log) Newest() int64 { return l.reader.Epoch(l.of.role, l.of.partition) }

// Replay makes the next Read begin at the start, and call apply with each valid entry of the role, in order.
func (l *Log) Replay(apply func(Entry)) {
	l.apply, l.reader, l.next = apply, Reader{}, 0
}

// Read reads to the end of the journal.
func (l *Log) Read(ctx context.Context) error {
	return l.read(ctx, func(Entry, bool) {})
}

func (l *Log) read(ctx context.Context, seen func(e Entry, counts bool)) error {
	tp := bus.TopicPartition{Topic: bus.Journal, Partition: l.of.partition}
	end, err := l.topics.ReadOn(ctx, tp, l.next, func(rec ingest.Record) error {
		before := l.reader.newest[l.of]
		e, counts, err := l.reader.Read(rec)
		if err != nil {
			return err
		}
		if l.next = rec.Offset + 1; e.Role != l.of.role {
			return nil
		}
		if _, begins := e.Decision.(EpochBegan); begins && counts {
			l.before = before
		}
		if counts && l.apply != nil {
			l.apply(e)
		}
		seen(e, counts)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	l.next = max(l.next, end)
	return nil
}

// Begin begins the next epoch. If two processes begin the same one, the first in the journal has it, and the other
// begins the one after.
func (l *Log) Begin(ctx context.Context, write Write, ends map[string]int64) error {
	for {
		if err := l.Read(ctx); err != nil {
			return err
		}
		l.epoch = l.Newest() + 1
		own, err := l.append(ctx, write, EpochBegan{ends})
		if err != nil {
			return err // such as ErrFenced
		}
		if err := l.Confirm(ctx, own); !errors.Is(err, ErrFenced) {
			return err
		}
		if l.Newest() < l.epoch {
			return fmt.Errorf("the beginning of epoch %d of role %s was not read back", l.epoch, l.of.role)
		}
	}
}

// Append appends a decision and returns once it was read back and applied. The error is ErrFenced if it is not valid.
func (l *Log) Append(ctx context.Context, write Write, d Decision) error {
	own, err := l.append(ctx, write, d)
	if err != nil {
		return err
	}
	return l.Confirm(ctx, own)
}

func (l *Log) append(ctx context.Context, write Write, d Decision) (own Entry, err error) {
	own = l.Next(d)
	record, err := own.Record()
	if err == nil {
		record.Partition = l.of.partition
		err = write(ctx, bus.Journal, []ingest.Outgoing{record})
	}
	if err != nil {
		return own, fmt.Errorf("append to the journal: %w", err)
	}
	return own, nil
}

// Next returns the entry of a decision for a caller that writes it by other means than Append and calls Confirm.
func (l *Log) Next(d Decision) Entry {
	number := l.reader.newest[l.of].Number + 1
	return Entry{Role: l.of.role, Epoch: l.epoch, Number: number, Instance: l.instance, Decision: d}
}

// Confirm reads back an entry that was written. The error is ErrFenced if it is not valid.
func (l *Log) Confirm(ctx context.Context, own Entry) error {
	own.Decision = nil
	counted := false
	err := l.read(ctx, func(e Entry, counts bool) {
		e.Decision = nil
		if counts && e == own {
			counted, l.own = true, Position{e.Place(), l.next}
		}
	})
	if err == nil && !counted {
		err = fmt.Errorf("epoch %d of role %s: %w", l.epoch, l.of.role, ErrFenced)
	}
	return err
}
