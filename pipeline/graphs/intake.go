package graphs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions/late"
	"lethe/deletions/withdrawal"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/internal/spares"
	"lethe/metrics/events"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Erased knows what was erased; *withdrawal.Records does.
type Erased interface {
	// Names reports whether a record holds something erased.
	Names(rec ingest.Record) (bool, error)
	// Strip returns what stays of another one's record. more says that there is more in it than what is taken.
	Strip(rec ingest.Record, more bool) (withdrawal.Stripped, error)
	// Withdraw deletes the records at some positions of a batch from their topic.
	Withdraw(ctx context.Context, batch bus.Batch, positions []int) error
	// Republish publishes the records at some positions of a batch again, with other values.
	Republish(ctx context.Context, batch bus.Batch, redactions map[int]withdrawal.Redaction) error
}

// intake takes transactions and labels into the snapshot store.
type intake struct {
	store      Store
	commits    commits
	letters    *letters
	erased     Erased
	late       late.Requests
	secret     lethe.Secret
	limits     ingest.Limits
	partitions partitions
	// authority says which control records must be signed.
	authority authority.Policy
	listener  events.Listener
	sampler   events.Sampler
	// decided, if not nil, has what is taken in the journal before.
	decided *decisions
	// replayed, if not nil, is the entry of the journal that has this batch taken: another process says what becomes of
	// its records outside of the store.
	replayed *journal.Consumed
	// workers is how many goroutines decode, spare has lists of what they have decoded, to be used again.
	workers int
	spare   spares.List[*decodedList]
	// before is called before the records of a batch are taken.
	before func(ctx context.Context, list []decoded) error
	// mostOpen is how many timesteps may be open, ends tells what was sent.
	mostOpen int
	ends     interface {
		EndOffsets(ctx context.Context, t bus.Topic) ([]int64, error)
	}
}

// taken is a batch of records that is being taken, and what is to be published of it.
type taken struct {
	*snapshot.Batch
	// refused are the dead letters, and tombstones of those whose records were sent again and
	// taken, or are erased: an earlier version brings a letter back as it marks it.
	refused   []ingest.Outgoing
	withdrawn []int
	// republished are new values of records, by their place.
	republished map[int]withdrawal.Redaction
	// late is what came of erased subjects.
	late []late.Carrier
	// dropped are the offsets of records that name something erased beside what is taken of them.
	dropped []int64
}

// take applies a batch of transactions or labels: rows, watermark and
// offset become durable together, after what was refused has been written to
// the dead letters and what names an erased transaction has been withdrawn.
// Killed in between, the batch comes again, and dead letters and tombstones are
// written again under the same keys with the same content, as are requests for what came late of
// erased subjects.
func (in *intake) take(ctx context.Context, batch bus.Batch, ahead any) error {
	stream := snapshot.Transactions
	if batch.Source.Topic == bus.Labels {
		stream = snapshot.Labels
	}
	all, is := ahead.(*decodedList)
	if !is || in.store.Suppressed().Redacts() {
		all = in.decodeAll(batch.Records, stream == snapshot.Transactions, stream == snapshot.Labels)
	}
	list := all.list
	if err := in.before(ctx, list); err != nil {
		return err
	}
	begun, err := in.store.Begin(snapshot.Source{
		Stream: stream, Topic: string(batch.Source.Topic), Partition: batch.Source.Partition,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	tx := &taken{Batch: begun, republished: make(map[int]withdrawal.Redaction)}
	placed := place(tx, list)
	bounded, err := in.bound(ctx, tx, batch, list)
	if err = errors.Join(placed, err); err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	tally, err := in.applyAll(tx, batch, list)
	if err != nil {
		return err
	}
	if err := in.publish(ctx, batch, tx); err != nil {
		return fmt.Errorf("%s: %w", batch.Source, err)
	}
	consumed := journal.Consumed{
		Topic: string(batch.Source.Topic), Partition: batch.Source.Partition, Next: batch.Next, Bounded: bounded,
		Dropped: tx.dropped,
	}
	err = in.decided.decide(ctx, consumed, func() error { return in.commits.commit(tx.Batch, batch.Source, batch.Next) })
	if err != nil {
		return fmt.Errorf("%s: commit up to offset %d: %w", batch.Source, batch.Next, err)
	}
	in.done(all)
	for _, result := range events.Results() {
		if n := tally[result]; n > 0 {
			in.listener.RecordsConsumed(events.RecordsConsumed{Topic: string(batch.Source.Topic), Result: result, Count: n})
		}
	}
	return nil
}

// applyAll takes the records of a batch, and counts what becomes of them.
func (in *intake) applyAll(tx *taken, batch bus.Batch, list []decoded) (map[events.Result]int, error) {
	tally := make(map[events.Result]int)
	for i := range list {
		d := &list[i]
		rec := d.rec
		result, refusal, err := in.apply(tx, d)
		if err != nil {
			return nil, fmt.Errorf("%s@%d: %w", batch.Source, rec.Offset, err)
		}
		tally[result]++
		switch result {
		case events.Refused:
			tx.refused = append(tx.refused, in.letters.letter(d.rec, refusal))
		case events.Suppressed:
			tx.withdrawn = append(tx.withdrawn, i)
		case events.Accepted:
			in.tellTaken(d)
		default:
		}
		if result != events.Ignored {
			tx.refused = append(tx.refused, ingest.Answered(rec, result == events.Refused)...)
		}
		if d.redacted && result != events.Suppressed {
			tx.republished[i] = withdrawal.Redaction{
				Value: d.rec.Value, Headers: d.rec.Headers,
				Refused: result == events.Refused || result == events.Ignored,
			}
		}
	}
	return tally, nil
}

// publish writes what becomes of the records of a batch outside of the store.
func (in *intake) publish(ctx context.Context, batch bus.Batch, tx *taken) error {
	if in.replayed != nil {
		return nil
	}
	if err := in.letters.write(ctx, tx.refused); err != nil {
		return err
	}
	// Before it is withdrawn: compaction may have forgotten it when the batch comes again.
	if err := in.late.Ask(ctx, tx.late); err != nil {
		return fmt.Errorf("requests for what came late of erased subjects: %w", err)
	}
	if err := in.erased.Withdraw(ctx, batch, tx.withdrawn); err != nil {
		return err
	}
	return in.erased.Republish(ctx, batch, tx.republished)
}

// apply takes one record into the batch: what decoding it gave, an event or a
// *ingest.Refusal. A record that is refused and names an erased transaction is
// suppressed instead, because a dead letter would keep its bytes. One of another transaction that names it beside what
// is taken of it is taken, and published again without that.
func (in *intake) apply(tx *taken, d *decoded) (events.Result, *ingest.Refusal, error) {
	if in.replayed != nil && slices.Contains(in.replayed.Dropped, d.rec.Offset) {
		return events.Suppressed, nil, nil
	}
	more, carries := saysMore(d.event)
	stripped, err := in.erased.Strip(d.rec, more)
	// Of what carries subjects the store tells what becomes of it.
	if err != nil || stripped.Names && !carries {
		tx.dropped = append(tx.dropped, d.rec.Offset)
		return events.Suppressed, nil, err
	}
	d.rec, d.redacted = stripped.Record, d.redacted || stripped.Again
	rec, err := d.rec, d.err
	if again, refused := ingest.IsRepublished(in.secret, rec); refused {
		return events.Ignored, nil, nil // there is a dead letter
	} else if again && !misplaced(err) {
		result, err := in.again(tx, d)
		return result, nil, err
	}
	result := events.Refused
	var refusal *ingest.Refusal
	if !errors.As(err, &refusal) {
		origin := originOf(rec)
		if err == nil {
			origin.Value, err = ingest.Kept(rec, d.event)
		}
		if err == nil {
			result, refusal, err = in.judge(tx, d, origin)
		}
		if err != nil {
			return "", nil, err
		}
	}
	if refusal == nil {
		return result, nil, nil
	}
	if stripped.Cut { // it is published again as refused, and leaves no dead letter
		return events.Ignored, nil, nil
	}
	erased, err := in.erased.Names(rec)
	if erased {
		return events.Suppressed, nil, err
	}
	return events.Refused, refusal, err
}

// judge takes one event into the batch.
func (in *intake) judge(
	tx *taken, d *decoded, origin snapshot.Origin,
) (events.Result, *ingest.Refusal, error) {
	var v snapshot.Verdict
	var err error
	switch e := d.event.(type) {
	case ingest.Transaction:
		v, err = d.foreseen.Take(tx.Batch, origin)
	case ingest.Payment:
		v, err = tx.Payment(e.Payment, origin, e.Subjects...)
	case ingest.Label:
		v, err = tx.Label(e.LabelRecord, origin)
	case ingest.Close:
		v, err = tx.Control(e.Timestep, origin)
	case ingest.Settle:
		v, err = tx.Control(e.Timestep, origin)
	default:
		// A tombstone in the source topics is the log's own affair: what was
		// taken from the record stays until an erasure asks for it.
		return events.Ignored, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if v.Late {
		tx.late = append(tx.late, late.CarrierOf(d.event))
	}
	switch v.Outcome {
	case snapshot.Duplicate:
		return events.Duplicate, nil, nil
	case snapshot.Suppressed:
		return events.Suppressed, nil, nil
	case snapshot.Refused:
		return events.Refused, &ingest.Refusal{Reason: ingest.Reason(v.Refusal.Reason), Detail: v.Refusal.Detail}, nil
	default:
		return events.Accepted, nil, nil
	}
}

// originOf keeps what a dead letter will need of a record that is refused later.
func originOf(rec ingest.Record) snapshot.Origin {
	o := snapshot.Origin{
		Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset,
		TimeUnixMillis: rec.Time.UnixMilli(), Key: rec.Key, Value: rec.Value,
	}
	for _, h := range rec.Headers {
		o.Headers = append(o.Headers, snapshot.Header(h))
	}
	return o
}

// recordOf is the inverse of originOf.
func recordOf(o snapshot.Origin) ingest.Record {
	rec := ingest.Record{
		Topic: o.Topic, Partition: o.Partition, Offset: o.Offset,
		Time: time.UnixMilli(o.TimeUnixMillis).UTC(), Key: o.Key, Value: o.Value,
	}
	for _, h := range o.Headers {
		rec.Headers = append(rec.Headers, ingest.Header(h))
	}
	return rec
}
