package roletest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// batchRecords bounds a batch, so that a topic comes in several.
const batchRecords = 16

// Tail follows partitions of a Bus. Partitions take turns.
type Tail struct {
	bus       *Bus
	sources   []bus.TopicPartition
	positions map[bus.TopicPartition]int64
	last      int
	wake      chan struct{}
	// waiting is set, under the bus's lock, while Next has nothing to give.
	waiting bool
}

var _ role.Bus = (*Bus)(nil)

// Follow implements role.Bus.
func (b *Bus) Follow(positions map[bus.TopicPartition]int64) (role.Tail, error) {
	t := &Tail{bus: b, positions: maps.Clone(positions), wake: make(chan struct{}, 1)}
	t.sources = slices.SortedFunc(maps.Keys(positions), func(a, b bus.TopicPartition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tails = append(b.tails, t)
	return t, nil
}

// Idle reports whether so many tails are open and all of them wait with nothing left to read: all records written so
// far are processed.
func (b *Bus) Idle(tails int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	busy := slices.ContainsFunc(b.tails, func(t *Tail) bool { return !t.waiting || t.behind() })
	return len(b.tails) == tails && !busy
}

// behind reports whether there is something to read.
func (t *Tail) behind() bool {
	return slices.ContainsFunc(t.sources, func(s bus.TopicPartition) bool {
		return t.positions[s] < t.bus.topics[s.Topic][s.Partition].stable()
	})
}

func (t *Tail) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Next implements role.Tail.
func (t *Tail) Next(ctx context.Context) (bus.Batch, error) {
	return t.next(ctx, func(bus.Topic) bool { return true })
}

// NextOf implements role.Tail.
func (t *Tail) NextOf(ctx context.Context, topics map[bus.Topic]bool) (bus.Batch, error) {
	return t.next(ctx, func(topic bus.Topic) bool { return topics[topic] })
}

func (t *Tail) next(ctx context.Context, wanted func(bus.Topic) bool) (bus.Batch, error) {
	for {
		if batch, ok := t.poll(wanted); ok {
			return batch, nil
		}
		select {
		case <-t.wake:
		case <-ctx.Done():
			return bus.Batch{}, ctx.Err()
		}
	}
}

func (t *Tail) poll(wanted func(bus.Topic) bool) (bus.Batch, bool) {
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	t.waiting = false
	for i := range t.sources {
		at := (t.last + 1 + i) % len(t.sources)
		source := t.sources[at]
		log := t.bus.topics[source.Topic][source.Partition]
		if t.positions[source] >= log.stable() || !wanted(source.Topic) {
			continue
		}
		t.last = at
		batch := log.batch(source, t.positions[source])
		for _, rec := range log.records {
			if rec.Offset < t.positions[source] || rec.Offset >= batch.Next || rec.Uncommitted != "" {
				continue
			}
			if len(batch.Records) == batchRecords {
				batch.Next = rec.Offset
				break
			}
			batch.Records = append(batch.Records, rec)
		}
		t.positions[source] = batch.Next
		return batch, true
	}
	t.waiting = true
	return bus.Batch{}, false
}

// Close implements role.Tail.
func (t *Tail) Close() error {
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	t.bus.tails = slices.DeleteFunc(t.bus.tails, func(o *Tail) bool { return o == t })
	return nil
}
