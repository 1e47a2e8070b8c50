package graphs

import (
	"context"
	"sync"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
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

// decodeAll decodes records, some at a time, into a list in their order, and works out of transactions what depends on
// no other record. Unless they are to be redacted, the owner of the store may do something else meanwhile.
func (in *intake) decodeAll(
	records []ingest.Record, redacts bool, decode func(ingest.Record, ingest.Limits) (ingest.Event, error),
) []decoded {
	out := make([]decoded, len(records))
	parts := make(chan int, len(records)/decodedTogether+1)
	for at := 0; at < len(records); at += decodedTogether {
		parts <- at
	}
	close(parts)
	var working sync.WaitGroup
	for range in.workers {
		working.Go(func() {
			hashing := in.store.Marks().NewHashing()
			if redacts {
				hashing = in.store.Marks().NewRedactingHashing()
			}
			for at := range parts {
				for i := at; i < min(at+decodedTogether, len(records)); i++ {
					d := in.decode(records[i], redacts, decode)
					if t, is := d.event.(ingest.Transaction); is {
						d.foreseen = hashing.Foresee(t.Transaction)
					}
					out[i] = d
				}
			}
		})
	}
	working.Wait()
	return out
}

// prepared is a batch of transactions that was decoded while the one before it was taken.
type prepared []decoded

// prepare decodes a batch of transactions ahead. Where features are erased it does not: what is erased may change.
func (in *intake) prepare(batch bus.Batch) any {
	if batch.Source.Topic != bus.Transactions || in.store.Marks().Redacts() {
		return nil
	}
	return prepared(in.decodeAll(batch.Records, false, ingest.DecodeTransactions))
}

func (in *intake) decode(
	rec ingest.Record, redacts bool, decode func(ingest.Record, ingest.Limits) (ingest.Event, error),
) (d decoded) {
	d.rec = rec
	if redacts && in.store.Marks().Redacts() {
		if again, _ := ingest.IsRepublished(in.secret, rec); !again {
			d.rec, d.redacted = in.redact(rec)
		}
	}
	if d.event, d.err = decode(d.rec, in.limits); d.err == nil {
		d.err = in.unsigned(d.rec, d.event)
	}
	return d
}

// unsigned refuses a control record that is not signed as the deployment requires: that a partition
// is complete is then a producer's to say, and nobody else ends a timestep.
func (in *intake) unsigned(rec ingest.Record, event ingest.Event) error {
	switch event.(type) {
	case ingest.Close, ingest.Settle:
		if !in.authority.Control {
			return nil
		}
		if _, refusal := in.authority.Check(rec, authority.Producer); refusal != nil {
			return refusal
		}
	default:
	}
	return nil
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
func (in *intake) bound(ctx context.Context, tx *taken, batch bus.Batch, list []decoded) error {
	var begins []lethe.Timestep
	for _, d := range list {
		switch e := d.event.(type) {
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
		return nil
	}
	offsets := in.store.Offsets()
	ends, err := bus.EndsOf(ctx, in.ends, bus.Transactions, bus.Labels)
	if err != nil {
		return err
	}
	for tp, end := range ends {
		read := offsets[snapshot.TopicPartition{Topic: string(tp.Topic), Partition: tp.Partition}] >= end
		if !read && tp != batch.Source {
			return nil
		}
	}
	snapshot.BoundOpen(tx.Batch)
	return nil
}
