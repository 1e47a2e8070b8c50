package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// obstacle is what nobody can read, or not yet: a batch at an offset, or a record of an open transaction.
type obstacle struct {
	bus.TopicPartition
	offset int64
	record *event
}

type obstacles []obstacle

// ended is the end of a partition's open transaction.
type ended struct {
	bus.TopicPartition
	commit bool
}

// partition is the one that a record is written to.
func (e event) partition() bus.TopicPartition {
	at := e.record.Partition
	if !e.record.Pinned {
		at = bus.PartitionOf(e.record.Key, partitions[e.topic])
	}
	return bus.TopicPartition{Topic: e.topic, Partition: at}
}

// hidden draws unreadable batches. A backup that is restored may be older than they are; and what an operator removes
// with them cannot be read again by a process that begins with an empty folder.
func (d *drawing) hidden(chance *rand.Rand) {
	if chance.IntN(4) > 0 || d.restores() || d.emptied {
		return
	}
	for n := 1 + chance.IntN(2); n > 0; n-- {
		topic := []bus.Topic{bus.Transactions, bus.Labels}[chance.IntN(2)]
		at := bus.TopicPartition{Topic: topic, Partition: chance.IntN(partitions[topic])}
		d.insert(chance.IntN(len(d.events)+1), operation{unreadable: &at})
	}
}

// opened draws a transaction that stays open for a while: one of the records is in it, or a copy of one, if it is
// aborted. That begins before the first request, as in uncommitted. A backup that is put back has none of its end.
func (d *drawing) opened(chance *rand.Rand) {
	if chance.IntN(3) > 0 || d.restores() {
		return
	}
	var list []int
	for i, e := range d.events {
		if e.request == nil && e.operation == nil && e.behind == "" && len(e.names) > 0 {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return
	}
	at := list[chance.IntN(len(list))]
	commits := chance.IntN(2) == 0
	end := ended{d.events[at].partition(), commits}
	if commits {
		d.events[at].opens = true
	} else {
		aborted := d.events[at]
		aborted.opens = true
		first := slices.IndexFunc(d.events, func(e event) bool { return e.request != nil || e.operation != nil })
		at = chance.IntN(max(first, 0) + 1)
		d.insert(at, operation{opened: &aborted})
	}
	d.insert(at+1+chance.IntN(len(d.events)-at), operation{ended: &end})
}

// restores reports whether a backup is put back.
func (w *world) restores() bool {
	return slices.ContainsFunc(w.events, func(e event) bool { return e.operation != nil && e.operation.restore })
}

// hide writes what nobody can read, or not yet, or ends a transaction.
func (s *simulation) hide(ctx context.Context, o operation) error {
	if o.opened != nil {
		return s.send(ctx, *o.opened)
	}
	s.current.disk.mu.Lock()
	defer s.current.disk.mu.Unlock()
	for _, d := range []*deployment{s.successor, s.current} {
		switch {
		case d == nil:
		case o.ended != nil:
			d.topics.End(o.ended.TopicPartition, o.ended.commit)
			d.topics.log.hides = slices.DeleteFunc(slices.Clone(d.topics.log.hides), func(one obstacle) bool {
				return one.record != nil
			})
		default:
			at := *o.unreadable
			d.topics.log.hides = append(slices.Clone(d.topics.log.hides), obstacle{at, d.topics.Written(at.Topic)[at], nil})
			d.topics.log.sent[at.Topic]++
			d.topics.WriteUnreadable(at)
		}
	}
	return nil
}

// hide notes a record of an open transaction.
func (l *log) hide(e event) {
	l.hides = append(slices.Clone(l.hides), obstacle{e.partition(), 0, &e})
}

// hidesRecords reports whether a record of an open transaction is there.
func (l *log) hidesRecords() bool {
	return slices.ContainsFunc(l.hides, func(one obstacle) bool { return one.record != nil })
}

// removes takes out the batches that nobody can read, and reports whether there were any.
func (l *log) removes() bool {
	before := len(l.hides)
	l.hides = slices.DeleteFunc(slices.Clone(l.hides), func(one obstacle) bool { return one.record == nil })
	return len(l.hides) < before
}

// hidden checks that no request was verified while something stood that had stood when it was sent, and that may be
// of its targets; and that a receipt names the batches that may not.
func (c *comparison) hidden(w world, got *state) {
	for _, e := range w.events {
		if e.request == nil || got.states[e.request.RequestID] != deletions.Verified {
			continue
		}
		id := e.request.RequestID
		for _, one := range got.over[id] {
			if !slices.Contains(got.sentBehind[id], one) {
				continue // written after the topics were looked through, perhaps
			}
			switch {
			case slices.ContainsFunc(e.request.Targets, func(t lethe.Target) bool { return w.mayHold(one, t) }):
				*c = append(*c, fmt.Sprintf("%s is verified over %s", id, one))
			case one.record == nil:
				c.equal(fmt.Sprintf("the receipt of %s names %s", id, one), got.receiptNames(id, one), true)
			}
		}
	}
}

func (o obstacle) String() string {
	if o.record != nil {
		return fmt.Sprintf("an open transaction in %s with a record of %q", o.TopicPartition, o.record.names)
	}
	return fmt.Sprintf("offset %d of %s, which nobody can read", o.offset, o.TopicPartition)
}

// mayHold reports whether a target could be in an unreadable batch. A record that carries a subject may be in any.
func (w *world) mayHold(o obstacle, target lethe.Target) bool {
	if o.record != nil {
		return slices.ContainsFunc(w.with(target), o.record.erases)
	}
	switch {
	case target.Kind == lethe.SubjectTarget:
		return true
	case target.Kind == lethe.PaymentTarget && o.Topic == bus.Labels:
		return false
	}
	return slices.ContainsFunc(w.keysOf(target), func(key string) bool {
		return bus.PartitionOf([]byte(key), partitions[o.Topic]) == o.Partition
	})
}

// keysOf are the keys of a target's own records, as lethe and as producers spell them.
func (w *world) keysOf(target lethe.Target) (keys []string) {
	if target.Kind != lethe.PaymentTarget {
		for _, id := range w.spellings(target.Transaction) {
			keys = append(keys, string(id))
		}
		return keys
	}
	for _, source := range w.spellings(target.Payment.Source) {
		for _, to := range w.spellings(target.Payment.Target) {
			keys = append(keys, fmt.Sprintf("%s>%s", source, to))
		}
	}
	return keys
}

// receiptNames reports whether a request's receipt names a batch that nobody can read.
func (s *state) receiptNames(id string, o obstacle) bool {
	for _, p := range s.receipts[id].Searched {
		if p.Place == string(o.Topic) && slices.ContainsFunc(p.Unreadable, func(u deletions.UnreadableBatch) bool {
			return u.Partition == o.Partition && u.First == o.offset
		}) {
			return true
		}
	}
	return false
}

// isOfUnreadable reports whether a dead letter is of a batch that nobody can read.
func isOfUnreadable(rec ingest.Record) bool {
	letter, err := ingest.ReadDeadLetter(rec)
	return err == nil && letter.Refusal.Reason == ingest.CorruptBatch
}
