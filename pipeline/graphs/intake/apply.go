package intake

import (
	"errors"
	"fmt"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// taken is a batch that is being processed, and the records to be published of it.
type taken struct {
	*snapshot.Batch
	o     Options
	batch bus.Batch
	list  []decoded
	// replayed, if not nil, is the entry of the journal.
	replayed *journal.Consumed
	// letters are dead letters, and tombstones of letters whose records were sent again or are erased.
	letters    []ingest.Outgoing
	suppressed Suppressed
	// dropped are the offsets of records whose remaining content names something erased.
	dropped []int64
	// tally counts the results.
	tally map[events.Result]int
}

// applyAll applies the records of a batch.
func (tx *taken) applyAll(bounded bool) error {
	if bounded {
		tx.BoundOpen()
	}
	for i := range tx.list {
		d := &tx.list[i]
		rec := d.rec
		result, refusal, err := tx.apply(d)
		if err != nil {
			return fmt.Errorf("%s@%d: %w", tx.batch.Source, rec.Offset, err)
		}
		tx.tally[result]++
		switch result {
		case events.Refused:
			tx.letters = append(tx.letters, tx.o.Letters.refused(d.rec, refusal))
		case events.Suppressed:
			tx.suppressed.Withdrawn = append(tx.suppressed.Withdrawn, i)
		case events.Accepted:
			if tr, is := d.event.(ingest.Transaction); is {
				tx.o.Sampler.Passed(tx.o.Listener, events.Taken, tr.Timestep, d.foreseen.Pseudonym(), 0)
			}
		default:
		}
		if result != events.Ignored {
			tx.letters = append(tx.letters, ingest.Answered(rec, result == events.Refused)...)
		}
		if d.redacted && result != events.Suppressed {
			tx.suppressed.Republished[i] = ingest.Redaction{
				Value: d.rec.Value, Headers: d.rec.Headers,
				Refused: result == events.Refused || result == events.Ignored,
			}
		}
	}
	return nil
}

// apply applies one decoded record: an event or an *ingest.Refusal. A rejected record that names an erased transaction
// is suppressed instead, because a dead letter would keep its bytes. Another transaction's record that names one in an
// ignored field is accepted, and published again without the field.
func (tx *taken) apply(d *decoded) (events.Result, *ingest.Refusal, error) {
	cut, dropped, err := tx.strip(d)
	if err != nil || dropped {
		return events.Suppressed, nil, err
	}
	if again, refused := ingest.IsRepublished(tx.o.Secret, d.rec); refused {
		return events.Ignored, nil, nil // there is a dead letter
	} else if again {
		result, err := tx.again(d)
		return result, nil, err
	}
	result := events.Refused
	var refusal *ingest.Refusal
	if err := d.err; !errors.As(err, &refusal) {
		origin := originOf(d.rec)
		if err == nil {
			origin.Value, err = ingest.Kept(d.rec, d.event)
		}
		if err == nil {
			result, refusal, err = tx.judge(d, origin)
		}
		if err != nil {
			return "", nil, err
		}
	}
	switch {
	case refusal == nil:
		return result, nil, nil
	case cut: // it is published again as refused, and leaves no dead letter
		return events.Ignored, nil, nil
	case tx.replayed != nil:
		return events.Refused, refusal, nil
	}
	if erased, err := tx.o.Suppression.Names(d.rec); err != nil || erased {
		return events.Suppressed, nil, err
	}
	return events.Refused, refusal, nil
}

// strip deletes names of erased transactions from another transaction's record, or drops it.
func (tx *taken) strip(d *decoded) (cut, dropped bool, err error) {
	if tx.replayed != nil {
		return false, slices.Contains(tx.replayed.Dropped, d.rec.Offset), nil
	}
	more, carries := extraContent(d.event)
	stripped, err := tx.o.Suppression.Strip(d.rec, more)
	// The store decides on records that carry subjects.
	if err != nil || stripped.Names && !carries {
		tx.dropped = append(tx.dropped, d.rec.Offset)
		return false, true, err
	}
	d.rec, d.redacted = stripped.Record, d.redacted || stripped.Again
	return stripped.Cut, false, nil
}

// judge adds an event to the batch.
func (tx *taken) judge(d *decoded, origin snapshot.Origin) (events.Result, *ingest.Refusal, error) {
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
		// A tombstone in a source topic changes nothing: data stays until a request erases it.
		return events.Ignored, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if v.Late {
		tx.suppressed.Late = append(tx.suppressed.Late, d.event)
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

// again applies a record that lethe has republished. A store that was lost needs it, any other has it already. If it is
// rejected, there is a dead letter already.
func (tx *taken) again(d *decoded) (events.Result, error) {
	var refusal *ingest.Refusal
	if errors.As(d.err, &refusal) {
		return events.Ignored, nil
	}
	known, err := false, d.err
	switch e := d.event.(type) {
	case ingest.Transaction:
		known, err = tx.Repeats(e.ID)
	case ingest.Label:
		known, err = tx.RepeatsLabel(e.LabelRecord)
	default:
	}
	if err != nil || known {
		return events.Ignored, err
	}
	origin := originOf(d.rec)
	origin.InPlace = true // the record that it replaces was in time
	result, refusal, err := tx.judge(d, origin)
	if refusal != nil {
		result = events.Ignored
	}
	return result, err
}

// extraContent reports whether a record has ignored fields, and whether it carries subjects.
func extraContent(e ingest.Event) (more, carries bool) {
	switch e := e.(type) {
	case ingest.Transaction:
		return e.HasExtra, len(e.Subjects) > 0
	case ingest.Payment:
		return e.HasExtra, len(e.Subjects) > 0
	case ingest.Label:
		return e.HasExtra, false
	default:
		return false, false
	}
}
