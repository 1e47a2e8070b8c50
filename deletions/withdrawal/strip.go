package withdrawal

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Another transaction's record may name a target: in a header, a subject or an unused field. It is republished
// without that name, and so is a record of a transaction with erased features: with zeros, so that compaction removes
// the old one.

// Strip returns another transaction's record without erased names. more means that the value has subjects or unused
// fields.
func (r *Records) Strip(rec ingest.Record, more bool) (ingest.Remainder, error) {
	if !more && len(rec.Headers) == 0 && len(r.underWay) == 0 {
		return ingest.Remainder{Record: rec}, nil
	}
	at := place{search.SourceOf(rec), rec.Partition, string(rec.Key)}
	is, _ := ingest.IsRepublished(r.o.Secret, rec)
	if last, waits := r.underWay[at]; waits && is && !rec.Tombstone() && ingest.ReplacedOffset(rec.Headers) == last {
		delete(r.underWay, at)
	}
	_, waits := r.underWay[at]
	whole := rec
	if rec.Tombstone() { // its key is the key that it deletes: withdrawing it would write another one, without end
		whole.Key = nil
	}
	if names, err := r.Names(whole); err != nil || !names {
		return ingest.Remainder{Record: rec, Again: !is && waits}, err
	}
	if out, ok := search.Stripped(r.scanner, rec); ok {
		return ingest.Remainder{Record: out, Cut: true, Again: true}, nil
	}
	return ingest.Remainder{Record: rec, Names: true}, nil
}

// Republish republishes records of a batch with other values. As in Withdraw, a record with a later one of its key
// in the batch is left alone.
func (r *Records) Republish(ctx context.Context, batch bus.Batch, redactions map[int]ingest.Redaction) error {
	positions := slices.Sorted(maps.Keys(redactions))
	if err := r.recordDropped(ctx, batch, positions); err != nil {
		return err
	}
	var out []ingest.Outgoing
	for _, at := range positions {
		if with := redactions[at]; isLast(batch, at) {
			out = append(out, ingest.Republished(r.o.Secret, batch.Records[at], with.Value, with.Refused, with.Headers...))
		}
	}
	if err := r.write(ctx, batch.Source.Topic, out); err != nil {
		return fmt.Errorf("publish redacted records again: %w", err)
	}
	r.addUnderWay(batch.Source.Topic, out)
	return nil
}

// addUnderWay remembers republished records until the last of each key is read. An earlier one is republished when
// read, so that the newest stays newest.
func (r *Records) addUnderWay(topic bus.Topic, list []ingest.Outgoing) {
	for _, o := range list {
		if o.Value != nil && (topic == bus.Transactions || topic == bus.Labels) {
			r.underWay[place{topic, o.Partition, string(o.Key)}] = ingest.ReplacedOffset(o.Headers)
		}
	}
}
