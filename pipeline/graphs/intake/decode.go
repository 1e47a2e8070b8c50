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

// decoded is a record, and its event or *ingest.Refusal.
type decoded struct {
	// rec has no erased features; redacted means that it had some.
	rec      ingest.Record
	redacted bool
	event    ingest.Event
	err      error
	// foreseen is a transaction, prepared for a batch.
	foreseen snapshot.Foreseen
}

// decodedTogether is how many records a goroutine decodes at a time.
const decodedTogether = 32

// decoder decodes batches, side by side.
type decoder struct {
	Options
	partitions partitions
	// spare holds unused lists.
	spare spares.List[*Decoded]
}

// Decoded is a decoded batch with the memory of its features.
type Decoded struct {
	list []decoded
	// benches are the decoders, one for each goroutine.
	benches []bench
}

// bench is the state of a goroutine that decodes.
type bench struct {
	decoder ingest.Decoder
	hashing *snapshot.Hashing
	// redacting means that hashing sees 0 for erased features.
	redacting bool
}

// decodeAll decodes records into a list, in their order, and hashes transactions. Unless records are redacted, the
// store may be used meanwhile. The list must be released, because its memory is reused.
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

// begin resets the bench.
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

// Events iterates over the events, in the order of the records.
func (l *Decoded) Events() iter.Seq[ingest.Event] {
	return func(yield func(ingest.Event) bool) {
		for i := range l.list {
			if l.list[i].event != nil && !yield(l.list[i].event) {
				return
			}
		}
	}
}

// release returns an unused list.
func (in *decoder) release(l *Decoded) {
	clear(l.list)
	in.spare.Keep(l)
}

// prepare decodes a batch of transactions ahead, unless features are erased: these may change.
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

// unfit rejects a control record without a required signature, because only a producer may end a timestep; and any
// other record that is not in the partition of its key: only within a partition the last record of a key is defined.
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

// partitions choose the partitions of keys.
type partitions struct{ transactions, labels bus.Partitioner }

func partitionsOf(store *snapshot.Store) partitions {
	of := func(s snapshot.Stream) bus.Partitioner { return bus.NewPartitioner(len(store.Marks().Watermarks(s))) }
	return partitions{of(snapshot.Transactions), of(snapshot.Labels)}
}
