package coordinator

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// verified issues receipts and publishes the last states, unless done; a crash repeats it with the same content.
// Copies of the entries come first: the log must not name changes that a standby lacks.
func (s *states) verified(ctx context.Context, b batch) (batch, error) {
	due, err := s.notConcluded(b)
	if err != nil || len(due) == 0 {
		return b, err
	}
	if err := s.out.copies(ctx, due); err != nil {
		return b, err
	}
	if err := s.o.issue(ctx, due); err != nil {
		return b, fmt.Errorf("receipt: %w", err)
	}
	if err := s.acks.end(ctx, s.out, batch{b.leader, due}); err != nil {
		return b, err
	}
	if err := s.out.announce(ctx, due...); err != nil {
		return b, err
	}
	return b, s.o.Notes.Conclude(batch{b.leader, due}.ids()...)
}

// end deletes the commands of ended requests and their acknowledgements.
func (a acks) end(ctx context.Context, out *outbox, b batch) error {
	records, answered, err := out.unneeded(b)
	if err != nil {
		return err
	}
	for _, id := range answered {
		records = append(records, a.drop(id)...)
	}
	if len(records) == 0 {
		return nil
	}
	return wire.Say(ctx, out.bus, records)
}

// notConcluded are the requests whose receipt or last state may not be published.
func (s *states) notConcluded(b batch) (due []deletions.Entry, err error) {
	for _, e := range b.members {
		concluded, err := s.o.Notes.Concluded(e.RequestID)
		if err != nil {
			return nil, err
		}
		kept, err := s.o.Receipts.Has(e.RequestID)
		if err != nil {
			return nil, fmt.Errorf("receipt: %w", err)
		}
		if !concluded || !kept {
			due = append(due, e)
		}
	}
	return due, nil
}

// issue signs, logs, stores and publishes receipts.
func (o *Options) issue(ctx context.Context, list []deletions.Entry) error {
	records := make([]ingest.Outgoing, len(list))
	for i, e := range list {
		signed, err := o.sign(e)
		if err != nil {
			return err
		}
		records[i] = ingest.Outgoing{Key: []byte(e.RequestID), Value: signed}
	}
	if err := o.prove(ctx, list, records); err != nil {
		return err
	}
	kept := make(map[string][]byte, len(list))
	for i, e := range list {
		kept[e.RequestID] = records[i].Value
	}
	if err := o.Receipts.Keep(kept); err != nil {
		return err
	}
	if err := o.Bus.Write(ctx, bus.Receipts, records); err != nil {
		return err
	}
	for _, e := range list {
		o.Logger.Info("erasure verified", "request_id", e.RequestID,
			"slices_replaced", len(e.Progress.Slices), "shards_retrained", len(e.Progress.Retrained))
	}
	return nil
}

// prove adds receipts to the transparency log before publication, and the proofs to them.
func (o *Options) prove(ctx context.Context, list []deletions.Entry, signed []ingest.Outgoing) error {
	leaves := make([]translog.Receipt, len(list))
	for i, e := range list {
		payload, err := receipt.Payload(signed[i].Value)
		if err != nil {
			return err
		}
		leaves[i] = translog.Receipt{Request: e.Digest, Payload: sha256.Sum256(payload)}
	}
	proofs, err := o.Log.Issue(ctx, o.Bus, leaves)
	if err != nil {
		return err
	}
	for i := range signed {
		if signed[i].Value, err = receipt.WithLog(signed[i].Value, proofs[i].Text()); err != nil {
			return err
		}
	}
	return nil
}

// Issued reports whether data is this deployment's receipt of a request, by its key or the ledger's entry, which may
// be nil.
func (c Config) Issued(data []byte, requestID string, e *deletions.Entry) bool {
	return receipt.Genuine(data, requestID, c.SigningKey.Public().(ed25519.PublicKey), e)
}

func (o *Options) sign(e deletions.Entry) ([]byte, error) {
	known, err := o.Ledger.Get(e.RequestID)
	if err != nil {
		return nil, err
	}
	k := kept{suppressed: o.Graphs.Suppressed(e.Targets)}
	if slices.Equal(known.Targets, e.Targets) {
		k.entries++
	}
	backups, err := o.keptBackups(e)
	if err != nil {
		return nil, err
	}
	signed, err := receipt.Sign(receipt.New(e, receipt.Facts{
		Deployment:      o.Deployment,
		KernelSet:       o.KernelSet,
		SoftwareVersion: o.Version,

		IndependentShards: o.IndependentShards,
		Artefacts:         artefacts(e, k),
		Backups:           backups,
		MayRemain:         slices.Concat(mayRemain(e), receipt.InBackups(backups)),
	}), o.SigningKey)
	if err != nil {
		return nil, err
	}
	return signed.Encode()
}

// keptBackups are the backups that may hold what a request erased.
func (o *Options) keptBackups(e deletions.Entry) (out []receipt.KeptBackup, err error) {
	if o.Backups == nil {
		return nil, nil
	}
	list, err := o.Backups(e)
	for _, b := range list {
		out = append(out, receipt.KeptBackup{ID: b.ID, CreatedAt: b.CreatedAt, ExpiresAt: b.ExpiresAt})
	}
	return out, err
}

// mayRemain is what a request leaves besides its scope's residue.
func mayRemain(e deletions.Entry) []string {
	out := []string{receipt.ReasonsStay}
	if len(e.Redactions()) > 0 {
		out = append(out, receipt.FeaturesStay)
	}
	p := e.Progress
	return slices.Concat(out, receipt.InSpellings(p.NotSearched), receipt.GoneFolders(p.Gone),
		receipt.InUnreadable(p.Searched), receipt.InClientNames(p.Searched), receipt.InHeldRequests(p.HeldRequests))
}

const models = "models of the affected shards: shard stores, served ensemble, models.v1"

// kept counts what is kept on purpose.
type kept struct{ suppressed, entries int }

func refitted(p deletions.Progress) (n int) {
	for _, c := range p.Refitted {
		n += len(c.Refitted)
	}
	return n
}

// artefacts accounts for every place of a record or what was computed from it. Remaining is what the search found or
// counted.
func artefacts(e deletions.Entry, k kept) []receipt.ArtefactRow {
	p, c := e.Progress, e.Progress.Counts
	row := func(a receipt.Artefact, place string, action receipt.Action, found, remaining int) receipt.ArtefactRow {
		if found == 0 && remaining == 0 {
			action = receipt.NoneHeld
		}
		return receipt.ArtefactRow{Artefact: a, Location: place, Action: action, Found: int64(found),
			Remaining: int64(remaining)}
	}
	cuts := leftIn(p, string(bus.Slices), trainRole)
	stubs := row(receipt.Stubs, "slices of other shards", receipt.Replaced, c.Stubs, cuts)
	if e.Scope == lethe.ScopeShard {
		stubs = keptStubs(e, cuts)
	}
	checkpoints := leftIn(p, string(bus.Models), scoreRole)
	rows := []receipt.ArtefactRow{
		row(receipt.SnapshotRows, "snapshot stores and snapshots.v1", receipt.Rewritten, c.Held,
			leftIn(p, GraphsFolder, string(bus.Snapshots))),
		row(receipt.Slices, "shard stores and slices.v1", receipt.Replaced, len(p.Slices), cuts),
		stubs,
		row(receipt.Checkpoints, models, receipt.Recomputed, refitted(p), checkpoints),
		row(receipt.OptimiserState, "inside the checkpoints", receipt.Recomputed, len(p.Retrained), checkpoints),
		row(receipt.AggregationVectors, "inside the checkpoints", receipt.Recomputed, len(p.Retrained), checkpoints),
		row(receipt.Predictions, "predictions.v1", receipt.Tombstoned, c.Predictions,
			leftIn(p, string(bus.Predictions))),
		row(receipt.Predictions, "reasons.v1", receipt.Tombstoned, c.Reasons, leftIn(p, string(bus.Reasons))),
		row(receipt.DeadLetters, "dlq.v1", receipt.Tombstoned, c.DeadLetters, leftIn(p, string(bus.DeadLetters))),
		row(receipt.SuppressionEntries, "suppression list", receipt.KeptKeyed, c.Targets, k.suppressed),
		row(receipt.LedgerEntries, "erasure ledger and its copy in control.v1", receipt.KeptKeyed, k.entries,
			k.entries+leftIn(p, string(bus.Control), string(bus.Journal), string(bus.ErasureStatus))),
		row(receipt.KafkaTopics, "transactions.v1, labels.v1 and the embedded broker's files", receipt.Tombstoned,
			c.SourceRecords, leftIn(p, string(bus.Transactions), string(bus.Labels), BrokerFolder)),
		row(receipt.KafkaTopics, "the request in erasures.v1", receipt.Tombstoned, 1, leftIn(p, string(bus.Erasures))),
		row(receipt.KafkaTopics, "receipts, receipts.v1 and log.v1", receipt.NoneHeld, 0,
			leftIn(p, ReceiptsFolder, string(bus.Receipts), string(bus.Log))),
		{Artefact: receipt.Backups, Location: "those that lethe made are named in backups", Action: receipt.Declared},
	}
	if slices.ContainsFunc(p.Searched, func(s deletions.PlaceSearch) bool { return s.Place == viewRole }) {
		rows = append(rows, row(receipt.Predictions, "what the API answers with: predictions, reasons, who paid whom",
			receipt.Rewritten, c.Predictions, leftIn(p, viewRole)))
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
