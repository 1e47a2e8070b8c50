package graphs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/snapshot"
)

// decoded is a record, and what decoding it gave: an event or a *ingest.Refusal.
type decoded struct {
	// rec is without the features that are erased; redacted says that it had some.
	rec      ingest.Record
	redacted bool
	event    ingest.Event
	err      error
	// foreseen is a transaction, for the batch that takes it.
	foreseen snapshot.Foreseen
}

// decodedTogether is how many records a goroutine decodes before it looks for more.
const decodedTogether = 32

// decodedList is a batch of records that were decoded, with the memory that their features are in.
type decodedList struct {
	list []decoded
	// benches are one for each goroutine.
	benches []bench
}

// bench is what a goroutine decodes with.
type bench struct {
	decoder ingest.Decoder
	hashing *snapshot.Hashing
	// redacting says that hashing puts 0 for what is erased.
	redacting bool
}

// decodeAll decodes records, some at a time, into a list in their order, and works out of transactions what depends on
// no other record. Unless they are to be redacted, the owner of the store may do something else meanwhile. Whoever has
// taken the list gives it back to spare: its memory is used again.
func (in *intake) decodeAll(records []ingest.Record, redacts, labels bool) *decodedList {
	out, found := in.spare.Take()
	if !found {
		out = &decodedList{benches: make([]bench, in.workers)}
	}
	out.list = slices.Grow(out.list[:0], len(records))[:len(records)]
	parts := make(chan int, len(records)/decodedTogether+1)
	for at := 0; at < len(records); at += decodedTogether {
		parts <- at
	}
	close(parts)
	var working sync.WaitGroup
	for i := range out.benches {
		b := &out.benches[i]
		working.Go(func() {
			b.begin(in.store.Marks(), redacts)
			for at := range parts {
				for i := at; i < min(at+decodedTogether, len(records)); i++ {
					in.decode(&out.list[i], b, records[i], redacts, labels)
				}
			}
		})
	}
	working.Wait()
	return out
}

// begin has the memory of the bench used again.
func (b *bench) begin(marks snapshot.Marks, redacts bool) {
	b.decoder.Reset()
	switch {
	case redacts:
		b.hashing = marks.NewRedactingHashing()
	case b.hashing == nil || b.redacting:
		b.hashing = marks.NewHashing()
	}
	b.redacting = redacts
}

// done gives back a list of which nobody has anything any more.
func (in *intake) done(l *decodedList) {
	clear(l.list)
	in.spare.Keep(l)
}

// prepare decodes a batch of transactions ahead. Where features are erased it does not: what is erased may change.
func (in *intake) prepare(batch bus.Batch) any {
	if batch.Source.Topic != bus.Transactions || in.store.Suppressed().Redacts() {
		return nil
	}
	return in.decodeAll(batch.Records, false, false)
}

func (in *intake) decode(d *decoded, b *bench, rec ingest.Record, redacts, labels bool) {
	*d = decoded{rec: rec}
	if redacts && in.store.Suppressed().Redacts() {
		if again, _ := ingest.IsRepublished(in.secret, rec); !again {
			d.rec, d.redacted = in.redact(rec)
		}
	}
	if labels {
		d.event, d.err = ingest.DecodeLabels(d.rec, in.limits)
	} else {
		d.event, d.err = b.decoder.Transactions(d.rec, in.limits)
	}
	if d.err == nil {
		d.err = in.unfit(d.rec, d.event)
	}
	if t, is := d.event.(ingest.Transaction); is {
		d.foreseen = b.hashing.Foresee(t.Transaction)
	}
}

// unfit refuses what the record alone tells of more than its form: a control record that is not signed as the
// deployment requires, for nobody but a producer ends a timestep; and any other that is not in the partition of its
// key. Of records with one key the last counts, and across partitions none is the last.
func (in *intake) unfit(rec ingest.Record, event ingest.Event) error {
	var partitions bus.Partitioner
	switch event.(type) {
	case ingest.Close, ingest.Settle:
		if !in.authority.Control {
			return nil
		}
		if _, refusal := in.authority.Check(rec, authority.Producer); refusal != nil {
			return refusal
		}
		return nil
	case ingest.Transaction, ingest.Payment:
		partitions = in.partitions.transactions
	case ingest.Label:
		partitions = in.partitions.labels
	default:
		return nil
	}
	if want := partitions.Of(rec.Key); want != rec.Partition {
		return &ingest.Refusal{Reason: ingest.WrongPartition, Detail: fmt.Sprintf("the key belongs to partition %d", want)}
	}
	return nil
}

// misplaced reports whether a record is not in the partition of its key. Earlier versions took it, and published it
// again there.
func misplaced(err error) bool {
	var refusal *ingest.Refusal
	return errors.As(err, &refusal) && refusal.Reason == ingest.WrongPartition
}

// partitions choose those of the keys of the source topics.
type partitions struct{ transactions, labels bus.Partitioner }

func partitionsOf(store Store) partitions {
	of := func(s snapshot.Stream) bus.Partitioner { return bus.NewPartitioner(len(store.Marks().Watermarks(s))) }
	return partitions{of(snapshot.Transactions), of(snapshot.Labels)}
}

// place has a batch read what it needs of the transactions among records.
func place(tx *taken, list []decoded) error {
	transactions := make([]*snapshot.Foreseen, 0, len(list))
	for i := range list {
		if _, is := list[i].event.(ingest.Transaction); is {
			transactions = append(transactions, &list[i].foreseen)
		}
	}
	if len(transactions) == 0 {
		return nil
	}
	return snapshot.Place(tx.Batch, transactions)
}

// bound has a batch refuse records that begin too many timesteps, once all that was sent to
// the other partitions is read. Before, timesteps are open because a partition is read behind
// the others, as after an outage, and nothing is wrong with them.
func (in *intake) bound(ctx context.Context, tx *taken, batch bus.Batch, list []decoded) (bounds bool, err error) {
	if in.replayed != nil {
		if in.replayed.Bounded {
			snapshot.BoundOpen(tx.Batch)
		}
		return in.replayed.Bounded, nil
	}
	var begins []lethe.Timestep
	for i := range list {
		switch e := list[i].event.(type) {
		case ingest.Transaction:
			begins = append(begins, e.Timestep)
		case ingest.Payment:
			begins = append(begins, e.Timestep)
		case ingest.Label:
			begins = append(begins, e.Timestep)
		default:
		}
	}
	if snapshot.OpenWith(tx.Batch, begins...) <= in.mostOpen {
		return false, nil
	}
	offsets := in.store.Offsets()
	ends, err := bus.EndsOf(ctx, in.ends, bus.Transactions, bus.Labels)
	if err != nil {
		return false, err
	}
	for tp, end := range ends {
		read := offsets[snapshot.TopicPartition{Topic: string(tp.Topic), Partition: tp.Partition}] >= end
		if !read && tp != batch.Source {
			return false, nil
		}
	}
	snapshot.BoundOpen(tx.Batch)
	return true, nil
}

// tellTaken tells of a record that was given to the store, if it is a transaction.
func (in *intake) tellTaken(d *decoded) {
	if tr, is := d.event.(ingest.Transaction); is {
		in.sampler.Passed(in.listener, events.Taken, tr.Timestep, d.foreseen.Pseudonym(), 0)
	}
}

// commits are batches that were stored and need not be durable yet: the loop goes on with the next while the disk
// works. Of none of them is said that it was consumed.
type commits struct {
	store Store
	// wake has the role step when one is durable.
	wake func()
	// most is how many may be on their way to the disk; of 0 each is waited for.
	most    int
	pending []*commit
}

// commit is a batch that was stored.
type commit struct {
	at snapshot.TopicPartition
	// before is where the partition is resumed if the batch is lost, unless it is resumed at its start.
	before int64
	known  bool
	// failed is set once ended is closed.
	ended  chan struct{}
	failed error
}

// commit stores a batch. An error may be that of an earlier one.
func (c *commits) commit(b *snapshot.Batch, source bus.TopicPartition, next int64) error {
	if c.most == 0 {
		return b.Commit(next)
	}
	for len(c.pending) >= c.most {
		<-c.pending[0].ended
		if err := c.settle(); err != nil {
			return err
		}
	}
	p := &commit{
		at:    snapshot.TopicPartition{Topic: string(source.Topic), Partition: source.Partition},
		ended: make(chan struct{}),
	}
	p.before, p.known = c.store.Offsets()[p.at]
	err := snapshot.CommitAhead(b, next, func(err error) {
		p.failed = err
		close(p.ended)
		c.wake()
	})
	if err == nil {
		c.pending = append(c.pending, p)
	}
	return err
}

// settle forgets those that are durable.
func (c *commits) settle() error {
	for len(c.pending) > 0 {
		select {
		case <-c.pending[0].ended:
			if err := c.pending[0].failed; err != nil {
				return fmt.Errorf("%s partition %d: %w", c.pending[0].at.Topic, c.pending[0].at.Partition, err)
			}
			c.pending = c.pending[1:]
		default:
			return nil
		}
	}
	return nil
}

// durable returns up to where partitions are in durable state.
func (c *commits) durable() map[snapshot.TopicPartition]int64 {
	offsets := c.store.Offsets()
	for _, p := range slices.Backward(c.pending) {
		if offsets[p.at] = p.before; !p.known {
			delete(offsets, p.at)
		}
	}
	return offsets
}
