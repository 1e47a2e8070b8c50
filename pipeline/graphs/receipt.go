package graphs

import (
	"context"
	"path/filepath"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/atomicfile"
	"lethe/pipeline/wire"
)

func orderKey(requestID string) []byte { return wire.OrderKey(requestID) }

// issueReceipt signs what was done, keeps it as a file, publishes it and then
// the request's last state. Killed before it is done, it is done again at the
// next start with the same content.
func (r *Role) issueReceipt(ctx context.Context, e deletions.Entry) error {
	statement := receipt.New(e, receipt.Facts{
		KernelSet:       r.o.KernelSet,
		SoftwareVersion: r.o.Version,
		Artefacts:       r.artefacts(e),
	})
	signed, err := receipt.Sign(statement, r.o.SigningKey)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(r.receiptPath(e.RequestID), signed, 0o644); err != nil {
		return err
	}
	if err := r.o.Client.Write(ctx, bus.Receipts, []ingest.Outgoing{{Key: []byte(e.RequestID), Value: signed}}); err != nil {
		return err
	}
	r.o.Logger.Info("erasure verified", "request_id", e.RequestID,
		"slices_replaced", len(e.Progress.Slices), "shards_retrained", len(e.Progress.Retrained))
	if err := r.tidy(ctx, e.RequestID); err != nil {
		return err
	}
	if err := r.announce(ctx, e); err != nil {
		return err
	}
	return r.store.Marks().Put(concludedMark(e.RequestID), nil)
}

// receiptPath names the receipt's file. A request id is safe in a file name.
func (r *Role) receiptPath(requestID string) string {
	return filepath.Join(r.o.ReceiptsDir, requestID+".json")
}

// artefacts accounts for every place where a record, or something computed from
// it, could be.
func (r *Role) artefacts(e deletions.Entry) []receipt.ArtefactRow {
	p, c := e.Progress, e.Progress.Counts
	row := func(a receipt.Artefact, place string, action receipt.Action, found, remaining int) receipt.ArtefactRow {
		if found == 0 {
			action = receipt.NoneHeld
		}
		return receipt.ArtefactRow{Artefact: a, Location: place, Action: action, Found: int64(found), Remaining: int64(remaining)}
	}
	stubs := row(receipt.Stubs, "slices of other shards", receipt.Replaced, c.Stubs, 0)
	if e.Scope == lethe.ScopeShard {
		stubs = row(receipt.Stubs, "slices of other shards", receipt.KeptDeclared, c.Stubs, c.Stubs)
	}
	return []receipt.ArtefactRow{
		row(receipt.SnapshotRows, "snapshot stores and snapshots.v1", receipt.Rewritten, c.Targets, 0),
		row(receipt.Slices, "shard stores and slices.v1", receipt.Replaced, len(p.Slices), 0),
		stubs,
		row(receipt.Checkpoints, "models of the affected shards: shard stores, served ensemble, models.v1", receipt.Recomputed, len(p.Retrained), 0),
		row(receipt.OptimiserState, "inside the checkpoints", receipt.Recomputed, len(p.Retrained), 0),
		row(receipt.AggregationVectors, "inside the checkpoints", receipt.Recomputed, len(p.Retrained), 0),
		row(receipt.Predictions, "predictions.v1", receipt.Tombstoned, c.Predictions, 0),
		row(receipt.DeadLetters, "dlq.v1", receipt.Tombstoned, c.DeadLetters, 0),
		row(receipt.SuppressionEntries, "suppression list", receipt.KeptKeyed, c.Targets, c.Targets),
		row(receipt.LedgerEntries, "erasure ledger", receipt.KeptKeyed, 1, 1),
		row(receipt.KafkaTopics, "transactions.v1 and labels.v1", receipt.Tombstoned, c.SourceRecords, 0),
		row(receipt.KafkaTopics, "the request in erasures.v1", receipt.Tombstoned, 1, 0),
		row(receipt.Backups, "none known to lethe", receipt.NoneHeld, 0, 0),
	}
}
