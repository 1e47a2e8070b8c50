package graphs

import (
	"context"
	"path/filepath"

	"lethe"
	"lethe/deletions"
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
	receipt := deletions.NewReceipt(e, deletions.Facts{
		KernelSet:       r.o.KernelSet,
		SoftwareVersion: r.o.Version,
		Artefacts:       r.artefacts(e),
	})
	signed, err := deletions.Sign(receipt, r.o.SigningKey)
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
func (r *Role) artefacts(e deletions.Entry) []deletions.ArtefactRow {
	p, c := e.Progress, e.Progress.Counts
	row := func(a deletions.Artefact, place string, action deletions.Action, found, remaining int) deletions.ArtefactRow {
		if found == 0 {
			action = deletions.NoneHeld
		}
		return deletions.ArtefactRow{Artefact: a, Location: place, Action: action, Found: int64(found), Remaining: int64(remaining)}
	}
	stubs := row(deletions.Stubs, "slices of other shards", deletions.Replaced, c.Stubs, 0)
	if e.Scope == lethe.ScopeShard {
		stubs = row(deletions.Stubs, "slices of other shards", deletions.KeptDeclared, c.Stubs, c.Stubs)
	}
	return []deletions.ArtefactRow{
		row(deletions.SnapshotRows, "snapshot stores and snapshots.v1", deletions.Rewritten, c.Nodes, 0),
		row(deletions.Slices, "shard stores and slices.v1", deletions.Replaced, len(p.Slices), 0),
		stubs,
		row(deletions.Checkpoints, "models of the affected shards: shard stores, served ensemble, models.v1", deletions.Recomputed, len(p.Retrained), 0),
		row(deletions.OptimiserState, "inside the checkpoints", deletions.Recomputed, len(p.Retrained), 0),
		row(deletions.AggregationVectors, "inside the checkpoints", deletions.Recomputed, len(p.Retrained), 0),
		row(deletions.Predictions, "predictions.v1", deletions.Tombstoned, c.Predictions, 0),
		row(deletions.DeadLetters, "dlq.v1", deletions.Tombstoned, c.DeadLetters, 0),
		row(deletions.SuppressionEntries, "suppression list", deletions.KeptKeyed, c.Nodes, c.Nodes),
		row(deletions.LedgerEntries, "erasure ledger", deletions.KeptKeyed, 1, 1),
		row(deletions.KafkaTopics, "transactions.v1 and labels.v1", deletions.Tombstoned, c.SourceRecords, 0),
		row(deletions.KafkaTopics, "the request in erasures.v1", deletions.Tombstoned, 1, 0),
		row(deletions.Backups, "none known to lethe", deletions.NoneHeld, 0, 0),
	}
}
