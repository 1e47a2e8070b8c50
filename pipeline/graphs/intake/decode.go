package intake

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/internal/spares"
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

// decoder decodes batches, side by side.
type decoder struct {
	Options
	partitions partitions
	// spare has lists of what was decoded, to be used again.
	spare spares.List[*Decoded]
}

// Decoded is a batch of records that were decoded, with the memory that their features are in.
type Decoded struct {
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
func (in *decoder) decodeAll(records []ingest.Record, redacts, labels bool) *Decoded {
	out, found := in.spare.Take()
	if !found {
		out = &Decoded{benches: make([]bench, in.Workers)}
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
			b.begin(in.Store.Marks(), redacts)
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

// Events are what was decoded, in the order of the records.
func (l *Decoded) Events() iter.Seq[ingest.Event] {
	return func(yield func(ingest.Event) bool) {
		for i := range l.list {
			if l.list[i].event != nil && !yield(l.list[i].event) {
				return
			}
		}
	}
}

// release gives back a list of which nobody has anything any more.
func (in *decoder) release(l *Decoded) {
	clear(l.list)
	in.spare.Keep(l)
}

// prepare decodes a batch of transactions ahead. Where features are erased it does not: what is erased may change.
func (in *decoder) prepare(batch bus.Batch) *Decoded {
	if batch.Source.Topic != bus.Transactions || in.Suppression.Redacts() {
		return nil
	}
	return in.decodeAll(batch.Records, false, false)
}

func (in *decoder) decode(d *decoded, b *bench, rec ingest.Record, redacts, labels bool) {
	*d = decoded{rec: rec}
	if redacts && in.Suppression.Redacts() {
		if again, _ := ingest.IsRepublished(in.Secret, rec); !again {
			d.rec, d.redacted = in.Suppression.Redact(rec)
		}
	}
	if labels {
		d.event, d.err = ingest.DecodeLabels(d.rec, in.Limits)
	} else {
		d.event, d.err = b.decoder.Transactions(d.rec, in.Limits)
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
func (in *decoder) unfit(rec ingest.Record, event ingest.Event) error {
	var partitions bus.Partitioner
	switch event.(type) {
	case ingest.Close, ingest.Settle:
		if !in.Authority.Control {
			return nil
		}
		if _, refusal := in.Authority.Check(rec, authority.Producer); refusal != nil {
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

// partitions choose those of the keys of the source topics.
type partitions struct{ transactions, labels bus.Partitioner }

func partitionsOf(store *snapshot.Store) partitions {
	of := func(s snapshot.Stream) bus.Partitioner { return bus.NewPartitioner(len(store.Marks().Watermarks(s))) }
	return partitions{of(snapshot.Transactions), of(snapshot.Labels)}
}
