package graphs

import (
	"context"
	"fmt"

	"lethe"
	"lethe/deletions/late"
	"lethe/deletions/withdrawal"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/intake"
	"lethe/snapshot/suppressed"
)

// erased implements the suppression of intake.
type erased struct {
	*withdrawal.Records
	*suppressed.List
	late   late.Requests
	limits ingest.Limits
}

var _ intake.Suppression = erased{}

// Redact implements intake.Suppression. A redacted record is always published again, so that the newest record of its
// key stays the newest. A record that is too large for that is rejected, and tombstoned if it names something erased.
func (e erased) Redact(rec ingest.Record) (ingest.Record, bool) {
	if rec.Value == nil || len(rec.Value) > e.limits.MaxRecordBytes {
		return rec, false
	}
	id, is := ingest.NamedIn(rec.Value)
	if !is {
		return rec, false
	}
	columns := func(id lethe.TransactionID) (lethe.Columns, bool) {
		return e.Redacted(lethe.TransactionID(e.limits.Name(string(id))))
	}
	if _, redacted := columns(id); !redacted {
		return rec, false
	}
	value, _ := ingest.Redacted(rec.Value, columns)
	if !bus.Takes(bus.Transactions, ingest.Republished(e.late.Secret, rec, value, true)) {
		return rec, false
	}
	rec.Value, rec.Headers = value, nil
	return rec, true
}

// Names implements intake.Suppression.
func (e erased) Names(rec ingest.Record) (bool, error) { return e.Records.Names(rec) }

// Publish implements intake.Suppression.
func (e erased) Publish(ctx context.Context, batch bus.Batch, of intake.Suppressed) error {
	carriers := make([]late.Carrier, len(of.Late))
	for i, event := range of.Late {
		carriers[i] = late.CarrierOf(event)
	}
	// Before the tombstone: compaction may have deleted the record when the batch is read again.
	if err := e.late.Ask(ctx, carriers); err != nil {
		return fmt.Errorf("requests for what came late of erased subjects: %w", err)
	}
	if err := e.Withdraw(ctx, batch, of.Withdrawn); err != nil {
		return err
	}
	return e.Republish(ctx, batch, of.Republished)
}
