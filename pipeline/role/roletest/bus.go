package roletest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Prefix begins the names of topics in records, as it does with real brokers.
const Prefix = "lethe."

// Bus is a broker in memory. It may be used by several goroutines.
type Bus struct {
	mu     sync.Mutex
	topics map[bus.Topic][]partition
	tails  []*Tail
	// refuses is the error of Write; nil if it works.
	refuses error
	// now is the timestamp of records.
	now time.Time
}

// partition is a log.
type partition struct {
	records []ingest.Record
	next    int64
	// cleaned are the ends of the log at its latest abortedStay compactions.
	cleaned []int64
	unread  unread
}

// NewBus makes lethe's topics: with as many partitions as given, or with one.
func NewBus(partitions map[bus.Topic]int) *Bus {
	b := &Bus{topics: make(map[bus.Topic][]partition), now: time.Unix(0, 0).UTC()}
	for _, t := range bus.Topics() {
		b.topics[t] = make([]partition, max(1, partitions[t], bus.PartitionsAlways(t)))
	}
	return b
}

// Partitions implements role.Bus.
func (b *Bus) Partitions(_ context.Context, t bus.Topic) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.topics[t]) == 0 {
		return 0, fmt.Errorf("%w: %s", bus.ErrUnknownTopic, t)
	}
	return len(b.topics[t]), nil
}

// EndOffsets implements role.Bus.
func (b *Bus) EndOffsets(_ context.Context, t bus.Topic) ([]int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ends []int64
	for _, p := range b.topics[t] {
		ends = append(ends, p.stable())
	}
	return ends, nil
}

// Pass lets time pass: records that are written from now on are so much younger.
func (b *Bus) Pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// Refuse makes every Write return an error, until it is nil.
func (b *Bus) Refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuses = err
}

// Write implements role.Bus.
func (b *Bus) Write(_ context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return b.write(t, records, "")
}

// WriteAborted writes records in an aborted transaction: only ReadEvery returns them.
func (b *Bus) WriteAborted(_ context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return b.write(t, records, ingest.InAborted)
}

func (b *Bus) write(t bus.Topic, records []ingest.Outgoing, uncommitted ingest.Uncommitted) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuses != nil {
		return b.refuses
	}
	logs := b.topics[t]
	for _, out := range records {
		at := out.Partition
		if !out.Pinned {
			key := out.Key
			if out.HashKey != nil {
				key = out.HashKey
			}
			at = bus.PartitionOf(key, len(logs))
		}
		if at < 0 || at >= len(logs) {
			return fmt.Errorf("%w: %s has no partition %d", bus.ErrUnknownTopic, t, at)
		}
		logs[at].records = append(logs[at].records, ingest.Record{
			Topic: Prefix + string(t), Partition: at, Offset: logs[at].next, Time: b.now,
			Key: slices.Clone(out.Key), Value: slices.Clone(out.Value), Headers: slices.Clone(out.Headers),
			Uncommitted: uncommitted,
		})
		if uncommitted == ingest.BehindOpen {
			logs[at].begin()
		}
		logs[at].next++
	}
	b.signal()
	return nil
}

// ReadAll calls fn for every record of a topic, partition by partition.
func (b *Bus) ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error {
	return b.ReadNew(ctx, t, make(map[int]int64), fn)
}

// ReadOn implements role.Bus.
func (b *Bus) ReadOn(
	ctx context.Context, tp bus.TopicPartition, from int64, fn func(ingest.Record) error,
) (end int64, err error) {
	positions := map[int]int64{tp.Partition: from}
	err = b.ReadNew(ctx, tp.Topic, positions, func(rec ingest.Record) error {
		if rec.Partition != tp.Partition {
			return nil
		}
		return fn(rec)
	})
	return positions[tp.Partition], err
}

// ReadNew is ReadAll from the positions on, and advances them.
func (b *Bus) ReadNew(_ context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error) error {
	b.mu.Lock()
	var all []ingest.Record
	for at, p := range b.topics[t] {
		for _, rec := range p.records {
			if rec.Offset >= positions[at] && rec.Offset < p.stable() && rec.Uncommitted == "" {
				all = append(all, rec)
			}
		}
		positions[at] = p.stable()
	}
	b.mu.Unlock()
	return each(all, fn)
}

// ReadEvery is ReadAll, and also returns records of aborted and open transactions and those behind them. around, if
// not nil, is called for each unreadable batch.
func (b *Bus) ReadEvery(_ context.Context, t bus.Topic, fn func(ingest.Record) error, around func(*bus.Gap)) error {
	b.mu.Lock()
	var all []ingest.Record
	var gaps []bus.Gap
	for _, p := range b.topics[t] {
		gaps = append(gaps, p.unread.gaps...)
		for _, rec := range p.records {
			if rec.Offset >= p.stable() && rec.Uncommitted == "" {
				rec.Uncommitted = ingest.BehindOpen
			}
			all = append(all, rec)
		}
	}
	b.mu.Unlock()
	for i := range gaps {
		if around != nil {
			around(&gaps[i])
		}
	}
	return each(all, fn)
}

func each(all []ingest.Record, fn func(ingest.Record) error) error {
	for _, rec := range all {
		if err := fn(rec); err != nil {
			return fmt.Errorf("%s/%d@%d: %w", rec.Topic, rec.Partition, rec.Offset, err)
		}
	}
	return nil
}

// Clone returns a broker with the same records and no consumers.
func (b *Bus) Clone() *Bus {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := &Bus{topics: make(map[bus.Topic][]partition), refuses: b.refuses, now: b.now}
	for t, logs := range b.topics {
		for _, p := range logs {
			out.topics[t] = append(out.topics[t], partition{
				slices.Clone(p.records), p.next, slices.Clone(p.cleaned), p.unread.clone(),
			})
		}
	}
	return out
}
