package coordinator

import (
	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
)

const models = "models of the affected shards: shard stores, served ensemble, models.v1"

// artefacts accounts for every place where a record, or something computed from
// it, could be.
func artefacts(e deletions.Entry) []receipt.ArtefactRow {
	p, c := e.Progress, e.Progress.Counts
	row := func(a receipt.Artefact, place string, action receipt.Action, found, remaining int) receipt.ArtefactRow {
		if found == 0 {
			action = receipt.NoneHeld
		}
		return receipt.ArtefactRow{Artefact: a, Location: place, Action: action, Found: int64(found),
			Remaining: int64(remaining)}
	}
	stubs := row(receipt.Stubs, "slices of other shards", receipt.Replaced, c.Stubs, 0)
	if e.Scope == lethe.ScopeShard {
		stubs = row(receipt.Stubs, "slices of other shards", receipt.KeptDeclared, c.Stubs, c.Stubs)
	}
	return []receipt.ArtefactRow{
		row(receipt.SnapshotRows, "snapshot stores and snapshots.v1", receipt.Rewritten, c.Targets, 0),
		row(receipt.Slices, "shard stores and slices.v1", receipt.Replaced, len(p.Slices), 0),
		stubs,
		row(receipt.Checkpoints, models, receipt.Recomputed, len(p.Retrained), 0),
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
