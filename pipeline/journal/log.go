package journal

import (
	"context"
	"errors"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// ErrFenced is returned to a process whose entries do not count any more: another one has begun an epoch of the role.
var ErrFenced = errors.New("another process leads")

// Topics is what the journal needs of the topics.
type Topics interface {
	// ReadOn reads what stands behind positions, by partition, and moves them on.
	ReadOn(ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error) error
}

// Write writes records to a topic, once the process is known to lead.
type Write func(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error

// Log is the journal for a process that plays a role. One goroutine uses it.
type Log struct {
	apply          func(Entry)
	topics         Topics
	role, instance string
	epoch          int64
	reader         Reader
	next           map[int]int64
	// before is the place of the last entry before the newest epoch.
	before Place
}

// Open returns the journal for a role, read by nobody yet.
func Open(topics Topics, role, instance string) *Log {
	return &Log{topics: topics, role: role, instance: instance, next: make(map[int]int64)}
}

// Epoch is the one that the process has begun, 0 for none.
func (l *Log) Epoch() int64 { return l.epoch }

// Place is that of the newest entry of the role.
func (l *Log) Place() Place { return l.reader.newest[l.role] }

// Before is the place of the last entry of the role before the newest epoch began.
func (l *Log) Before() Place { return l.before }

// Newest is the newest epoch of the role, as far as the journal was read.
func (l *Log) Newest() int64 { return l.reader.Epoch(l.role) }

// Replay has the journal read from its start again, and apply given every entry of the role that counts, in order.
func (l *Log) Replay(apply func(Entry)) {
	l.apply, l.reader, l.next = apply, Reader{}, make(map[int]int64)
}

// Read reads to the end.
func (l *Log) Read(ctx context.Context) error {
	return l.read(ctx, func(Entry, bool) {})
}

func (l *Log) read(ctx context.Context, seen func(e Entry, counts bool)) error {
	err := l.topics.ReadOn(ctx, bus.Journal, l.next, func(rec ingest.Record) error {
		before := l.Place()
		e, counts, err := l.reader.Read(rec)
		if err != nil || e.Role != l.role {
			return nil //nolint:nilerr // whoever follows the topic says what is wrong with it
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
	return nil
}

// Begin begins an epoch, greater than all before it: of two processes that begin the same one, the first in the journal
// has it, and the other one begins the next.
func (l *Log) Begin(ctx context.Context, write Write, ends map[string]int64) error {
	for {
		if err := l.Read(ctx); err != nil {
			return err
		}
		l.epoch = l.Newest() + 1
		own, err := l.append(ctx, write, EpochBegan{ends})
		if err != nil {
			return err // which may be that the process leads no more
		}
		if err := l.Confirm(ctx, own); !errors.Is(err, ErrFenced) {
			return err
		}
		if l.Newest() < l.epoch {
			return fmt.Errorf("the beginning of epoch %d of role %s was not read back", l.epoch, l.role)
		}
	}
}

// Append appends a decision, and returns once it was read back and applied. The error is ErrFenced when it does not
// count.
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
		err = write(ctx, bus.Journal, []ingest.Outgoing{record})
	}
	if err != nil {
		return own, fmt.Errorf("append to the journal: %w", err)
	}
	return own, nil
}

// Next returns the entry of a decision, for who writes it otherwise than Append and has it confirmed then.
func (l *Log) Next(d Decision) Entry {
	number := l.Place().Number + 1
	return Entry{Role: l.role, Epoch: l.epoch, Number: number, Instance: l.instance, Decision: d}
}

// Confirm reads back an entry that was written. The error is ErrFenced when it does not count.
func (l *Log) Confirm(ctx context.Context, own Entry) error {
	own.Decision = nil
	counted := false
	err := l.read(ctx, func(e Entry, counts bool) {
		e.Decision = nil
		counted = counted || counts && e == own
	})
	if err == nil && !counted {
		err = fmt.Errorf("epoch %d of role %s: %w", l.epoch, l.role, ErrFenced)
	}
	return err
}
