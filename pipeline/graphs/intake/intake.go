// Package intake stores transactions, payments and labels in the snapshot store: rows, watermark and offset of a batch
// become durable together. Erasures reach it through Suppression only.
//
//	intake.go   processing a batch; options.go
//	apply.go    applying one record
//	decode.go   decoding, by several goroutines
//	bounds.go   the number of features; the number of open timesteps
//	letters.go  dead letters
package intake

import (
	"context"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Intake processes batches. One goroutine uses it; any may call Prepare.
type Intake struct {
	Options
	decoder decoder
}

// New returns an intake.
func New(o Options) *Intake {
	return &Intake{Options: o, decoder: decoder{Options: o, partitions: partitionsOf(o.Store)}}
}

// Prepare decodes a batch of transactions ahead, if possible.
func (in *Intake) Prepare(batch bus.Batch) *Decoded { return in.decoder.prepare(batch) }

// Decode decodes a batch. It uses the prepared one unless features were erased since.
func (in *Intake) Decode(batch bus.Batch, prepared *Decoded) *Decoded {
	if prepared != nil && !in.Suppression.Redacts() {
		return prepared
	}
	return in.decoder.decodeAll(batch.Records, batch.Source.Topic != bus.Labels, batch.Source.Topic == bus.Labels)
}

// Take stores a decoded batch, after dead letters of rejected records and replacements of suppressed ones are
// published. After a crash in between, the batch is read again and the same records are written under the same keys.
func (in *Intake) Take(ctx context.Context, batch bus.Batch, records *Decoded) error {
	if err := records.decideFeatures(ctx, in.Options); err != nil {
		return err
	}
	tx, err := in.begin(batch, records.list)
	if err != nil {
		return err
	}
	entry := journal.Consumed{Topic: string(batch.Source.Topic), Partition: batch.Source.Partition, Next: batch.Next}
	if entry.Bounded, err = tx.isBounded(ctx); err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	if err := tx.applyAll(entry.Bounded); err != nil {
		return err
	}
	entry.Dropped = tx.dropped
	if err := in.Letters.write(ctx, tx.letters); err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	if err := in.Suppression.Publish(ctx, batch, tx.suppressed); err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	return in.Decisions.Decide(ctx, entry, func() error { return in.commit(tx, records, entry.Next) })
}

// Replay stores a batch as an entry of the journal describes it. It publishes nothing.
func (in *Intake) Replay(batch bus.Batch, entry journal.Consumed) error {
	records := in.Decode(batch, nil)
	tx, err := in.begin(batch, records.list)
	if err != nil {
		return err
	}
	tx.replayed = &entry
	if err := tx.applyAll(entry.Bounded); err != nil {
		return err
	}
	return in.commit(tx, records, entry.Next)
}

// begin starts a batch.
func (in *Intake) begin(batch bus.Batch, list []decoded) (*taken, error) {
	stream := snapshot.Transactions
	if batch.Source.Topic == bus.Labels {
		stream = snapshot.Labels
	}
	begun, err := in.Store.Begin(snapshot.Source{
		Stream: stream, Topic: string(batch.Source.Topic), Partition: batch.Source.Partition,
	})
	if err == nil {
		err = place(begun, list)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", batch.Source, err)
	}
	return &taken{
		Batch: begun, o: in.Options, batch: batch, list: list, tally: make(map[events.Result]int),
		suppressed: Suppressed{Republished: make(map[int]ingest.Redaction)},
	}, nil
}

// place makes a batch look up the transactions among its records.
func place(b *snapshot.Batch, list []decoded) error {
	transactions := make([]*snapshot.Foreseen, 0, len(list))
	for i := range list {
		if _, is := list[i].event.(ingest.Transaction); is {
			transactions = append(transactions, &list[i].foreseen)
		}
	}
	if len(transactions) == 0 {
		return nil
	}
	return b.Place(transactions)
}

// commit stores a batch.
func (in *Intake) commit(tx *taken, records *Decoded, next int64) error {
	source := tx.batch.Source
	if err := tx.Commit(next); err != nil {
		return fmt.Errorf("%s: commit up to offset %d: %w", source, next, err)
	}
	in.decoder.release(records)
	for _, result := range events.Results() {
		if n := tx.tally[result]; n > 0 {
			in.Listener(events.RecordsConsumed{Topic: string(source.Topic), Result: result, Count: n})
		}
	}
	return nil
}

// Missed writes a dead letter for an unreadable part of a source topic.
func (in *Intake) Missed(ctx context.Context, gap *bus.Gap) error {
	return in.Letters.write(ctx, []ingest.Outgoing{in.Letters.refused(gap.Letter())})
}
