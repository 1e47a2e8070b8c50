package roletest

import (
	"context"
	"crypto/sha256"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// unread is the unreadable part of a log.
type unread struct {
	// gaps are unreadable batches, ascending.
	gaps []bus.Gap
	// open are the offsets of records of an open transaction: consumers stop before them until it ends.
	open []int64
}

func (u unread) clone() unread { return unread{slices.Clone(u.gaps), slices.Clone(u.open)} }

// begin has the last record, at next, be of an open transaction. It is marked as such while it is read.
func (p *partition) begin() {
	p.records[len(p.records)-1].Uncommitted = ""
	p.unread.open = append(p.unread.open, p.next)
}

// stable is the position up to which records are read.
func (p *partition) stable() int64 {
	if len(p.unread.open) > 0 {
		return p.unread.open[0]
	}
	return p.next
}

// batch returns the range of a read from a position on, without its records: up to an unreadable batch, or that batch.
func (p *partition) batch(source bus.TopicPartition, from int64) bus.Batch {
	out := bus.Batch{Source: source, Next: p.stable(), End: p.stable()}
	for _, gap := range p.unread.gaps {
		switch {
		case gap.From == from:
			out.Gap, out.Next = &gap, gap.To
			return out
		case gap.From > from:
			out.Next = min(out.Next, gap.From)
			return out
		}
	}
	return out
}

// WriteUnreadable writes an unreadable batch to a partition.
func (b *Bus) WriteUnreadable(tp bus.TopicPartition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := &b.topics[tp.Topic][tp.Partition]
	p.unread.gaps = append(p.unread.gaps, bus.Gap{
		Topic: string(tp.Topic), Partition: tp.Partition, Reason: ingest.CorruptBatch, From: p.next, To: p.next + 1,
		Detail: "damaged", Bytes: 1, SHA256: sha256.Sum256([]byte{byte(p.next)}),
	})
	p.next++
	b.signal()
}

// RemoveUnreadable deletes the records of every partition through its last unreadable batch, as an operator does.
func (b *Bus) RemoveUnreadable() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, logs := range b.topics {
		for at := range logs {
			gaps := logs[at].unread.gaps
			if len(gaps) == 0 {
				continue
			}
			start := gaps[len(gaps)-1].To
			logs[at].unread.gaps = nil
			logs[at].records = slices.DeleteFunc(slices.Clone(logs[at].records), func(rec ingest.Record) bool {
				return rec.Offset < start
			})
		}
	}
}

// WriteOpen writes records in transactions of their partitions that are open until End.
func (b *Bus) WriteOpen(_ context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return b.write(t, records, ingest.BehindOpen)
}

// End ends the open transaction of a partition: its records are read, or they are those of an aborted one.
func (b *Bus) End(tp bus.TopicPartition, commit bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := &b.topics[tp.Topic][tp.Partition]
	for i, rec := range p.records {
		if !commit && slices.Contains(p.unread.open, rec.Offset) {
			p.records[i].Uncommitted = ingest.InAborted
		}
	}
	p.unread.open = nil
	b.signal()
}

// Written returns, by partition, the position behind the last record, whether or not it is read.
func (b *Bus) Written(t bus.Topic) map[bus.TopicPartition]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	ends := make(map[bus.TopicPartition]int64)
	for at, p := range b.topics[t] {
		ends[bus.TopicPartition{Topic: t, Partition: at}] = p.next
	}
	return ends
}

// signal wakes all readers that wait for records.
func (b *Bus) signal() {
	for _, tail := range b.tails {
		tail.signal()
	}
}
