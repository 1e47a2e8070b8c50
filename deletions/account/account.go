// Package account has the rows of a receipt for each place of a record. Its functions are pure.
package account

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/acks"
	"lethe/deletions/receipt"
	"lethe/deletions/search"
	"lethe/ingest/bus"
)

// MayRemain is the data that a request leaves besides its scope's residue.
func MayRemain(e deletions.Entry) []string {
	out := []string{receipt.ReasonsStay}
	if len(e.Redactions()) > 0 {
		out = append(out, receipt.FeaturesStay)
	}
	p := e.Progress
	return slices.Concat(out, receipt.InSpellings(p.NotSearched), receipt.GoneFolders(p.Gone),
		receipt.InUnreadable(p.Searched), receipt.InClientNames(p.Searched), receipt.InHeldRequests(p.HeldRequests))
}

const (
	models = "models of the affected shards: shard stores, served ensemble, models.v1"
	inside = "inside the checkpoints of networks"
)

// refitted counts the groups that learnt anew, and those of networks among them.
func refitted(p deletions.Progress) (all, networks int) {
	for _, c := range p.Refitted {
		all += len(c.Refitted)
		if c.Network {
			networks += len(c.Refitted)
		}
	}
	return all, networks
}

// Artefacts accounts for every place of a record or of data computed from it. Remaining is the number that the search
// found or counted; suppressed hashes and entries of the ledger are kept on purpose.
func Artefacts(e deletions.Entry, suppressed, entries int) []receipt.ArtefactRow {
	p, c := e.Progress, e.Progress.Counts
	row := func(a receipt.Artefact, place string, action receipt.Action, found, remaining int) receipt.ArtefactRow {
		if found == 0 && remaining == 0 {
			action = receipt.NoneHeld
		}
		return receipt.ArtefactRow{Artefact: a, Location: place, Action: action, Found: int64(found),
			Remaining: int64(remaining)}
	}
	cuts := leftIn(p, string(bus.Slices), acks.Train)
	stubs := row(receipt.Stubs, "slices of other shards", receipt.Replaced, c.Stubs, cuts)
	if e.Scope == lethe.ScopeShard {
		stubs = keptStubs(e, cuts)
	}
	checkpoints := leftIn(p, string(bus.Models), acks.Score)
	groups, networks := refitted(p)
	rows := []receipt.ArtefactRow{
		row(receipt.SnapshotRows, "snapshot stores and snapshots.v1", receipt.Rewritten, c.Held,
			leftIn(p, search.GraphsFolder, string(bus.Snapshots))),
		row(receipt.Slices, "shard stores and slices.v1", receipt.Replaced, len(p.Slices), cuts),
		stubs,
		row(receipt.Checkpoints, models, receipt.Recomputed, groups, checkpoints),
		row(receipt.OptimiserState, inside, receipt.Recomputed, networks, min(networks, checkpoints)),
		row(receipt.AggregationVectors, inside, receipt.Recomputed, networks, min(networks, checkpoints)),
		row(receipt.Predictions, "predictions.v1", receipt.Tombstoned, c.Predictions,
			leftIn(p, string(bus.Predictions))),
		row(receipt.Predictions, "reasons.v1", receipt.Tombstoned, c.Reasons, leftIn(p, string(bus.Reasons))),
		row(receipt.DeadLetters, "dlq.v1", receipt.Tombstoned, c.DeadLetters, leftIn(p, string(bus.DeadLetters))),
		row(receipt.SuppressionEntries, "suppression list", receipt.KeptKeyed, c.Targets, suppressed),
		row(receipt.LedgerEntries, "erasure ledger and its copy in control.v1", receipt.KeptKeyed, entries,
			entries+leftIn(p, string(bus.Control), string(bus.Journal), string(bus.ErasureStatus))),
		row(receipt.KafkaTopics, "transactions.v1, labels.v1 and the embedded broker's files", receipt.Tombstoned,
			c.SourceRecords, leftIn(p, string(bus.Transactions), string(bus.Labels), search.BrokerFolder)),
		row(receipt.KafkaTopics, "the request in erasures.v1", receipt.Tombstoned, 1, leftIn(p, string(bus.Erasures))),
		row(receipt.KafkaTopics, "receipts, receipts.v1 and log.v1", receipt.NoneHeld, 0,
			leftIn(p, search.ReceiptsFolder, string(bus.Receipts), string(bus.Log))),
		{Artefact: receipt.Backups, Location: "those that lethe made are named in backups", Action: receipt.Declared},
	}
	if slices.ContainsFunc(p.Searched, func(s deletions.PlaceSearch) bool { return s.Place == acks.View }) {
		rows = append(rows, row(receipt.Predictions, "what the API answers with: predictions, reasons, who paid whom",
			receipt.Rewritten, c.Predictions, leftIn(p, acks.View)))
	}
	if c.OfOthers > 0 {
		rows = append(rows, row(receipt.KafkaTopics, "records of others that named a target, in transactions.v1 and "+
			"labels.v1: published again without it", receipt.Rewritten, c.OfOthers, 0))
	}
	for _, h := range p.HeldRequests {
		rows = append(rows, row(receipt.KafkaTopics, "a request that waits for a hold, in erasures.v1",
			receipt.KeptDeclared, h.Records, h.Records))
	}
	return rows
}

// keptStubs accounts for the stubs that scope shard keeps.
func keptStubs(e deletions.Entry, cuts int) receipt.ArtefactRow {
	left := e.Progress.Counts.Stubs
	if e.Progress.StubsLeft != nil {
		left = *e.Progress.StubsLeft
	}
	out := receipt.ArtefactRow{
		Artefact: receipt.Stubs, Location: "slices of other shards", Action: receipt.KeptDeclared,
		Found: int64(e.Progress.Counts.Stubs), Remaining: int64(left + cuts),
	}
	switch {
	case out.Found+out.Remaining == 0:
		out.Action = receipt.NoneHeld
	case out.Remaining == 0:
		out.Action = receipt.Replaced
	}
	return out
}

// leftIn counts the hits and superseded records of the final search in some places.
func leftIn(p deletions.Progress, places ...string) (left int) {
	for _, s := range p.Searched {
		if slices.Contains(places, s.Place) {
			left += s.Hits + s.Superseded
		}
	}
	return left
}
