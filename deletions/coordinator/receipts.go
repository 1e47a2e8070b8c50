package coordinator

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"lethe/deletions"
	"lethe/deletions/account"
	"lethe/deletions/batch"
	"lethe/deletions/receipt"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// receipts ends verified requests.
type receipts struct{ *core }

// verified issues receipts and publishes the last states, unless done; a crash repeats it with the same content.
// Copies of the entries come first: the log must not name changes that a standby lacks.
func (r receipts) verified(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	due, err := r.notConcluded(b)
	if err != nil || len(due) == 0 {
		return b, err
	}
	if err := r.out.copies(ctx, due); err != nil {
		return b, err
	}
	if err := r.issue(ctx, due); err != nil {
		return b, fmt.Errorf("receipt: %w", err)
	}
	if err := r.end(ctx, batch.Batch{Leader: b.Leader, Members: due}); err != nil {
		return b, err
	}
	if err := r.out.announce(ctx, due...); err != nil {
		return b, err
	}
	return b, r.o.Notes.Conclude(batch.Batch{Members: due}.IDs()...)
}

// notConcluded are the requests whose receipt or last state may not be published.
func (r receipts) notConcluded(b batch.Batch) (due []deletions.Entry, err error) {
	for _, e := range b.Members {
		concluded, err := r.o.Notes.Concluded(e.RequestID)
		if err != nil {
			return nil, err
		}
		kept, err := r.o.Receipts.Has(e.RequestID)
		if err != nil {
			return nil, fmt.Errorf("receipt: %w", err)
		}
		if !concluded || !kept {
			due = append(due, e)
		}
	}
	return due, nil
}

// issue signs, logs, stores and publishes receipts. They are in the transparency log before they are published.
func (r receipts) issue(ctx context.Context, list []deletions.Entry) error {
	documents, leaves := make([]receipt.Document, len(list)), make([]translog.Receipt, len(list))
	for i, e := range list {
		var err error
		if documents[i], err = r.sign(e); err != nil {
			return err
		}
		statement, err := documents[i].Statement()
		if err != nil {
			return err
		}
		leaves[i] = translog.Receipt{Request: e.Digest, Payload: sha256.Sum256(statement)}
	}
	proofs, err := r.o.Log.Issue(ctx, r.o.Bus, leaves)
	if err != nil {
		return err
	}
	records, kept := make([]ingest.Outgoing, len(list)), make(map[string][]byte, len(list))
	for i, e := range list {
		documents[i].Log = proofs[i].Text()
		signed, err := documents[i].Encode()
		if err != nil {
			return err
		}
		records[i], kept[e.RequestID] = ingest.Outgoing{Key: []byte(e.RequestID), Value: signed}, signed
	}
	if err := r.o.Receipts.Keep(kept); err != nil {
		return err
	}
	if err := r.o.Bus.Write(ctx, bus.Receipts, records); err != nil {
		return err
	}
	for _, e := range list {
		r.o.Logger.Info("erasure verified", "request_id", e.RequestID,
			"slices_replaced", len(e.Progress.Slices), "shards_retrained", len(e.Progress.Retrained))
	}
	return nil
}

func (r receipts) sign(e deletions.Entry) (receipt.Document, error) {
	known, err := r.o.Ledger.Get(e.RequestID)
	if err != nil {
		return receipt.Document{}, err
	}
	entries := 0
	if slices.Equal(known.Targets, e.Targets) {
		entries++
	}
	backups, err := r.keptBackups(e)
	if err != nil {
		return receipt.Document{}, err
	}
	return receipt.Sign(receipt.New(e, receipt.Facts{
		Deployment:      r.o.Deployment,
		KernelSet:       r.o.KernelSet,
		SoftwareVersion: r.o.Version,

		IndependentShards: r.o.IndependentShards,
		Artefacts:         account.Artefacts(e, r.o.Graphs.Suppressed(e.Targets), entries),
		Backups:           backups,
		MayRemain:         slices.Concat(account.MayRemain(e), receipt.InBackups(backups)),
	}), r.o.SigningKey)
}

// keptBackups are the backups that may hold data erased by a request.
func (r receipts) keptBackups(e deletions.Entry) (out []receipt.KeptBackup, err error) {
	if r.o.Backups == nil {
		return nil, nil
	}
	list, err := r.o.Backups(e)
	for _, b := range list {
		out = append(out, receipt.KeptBackup{ID: b.ID, CreatedAt: b.CreatedAt, ExpiresAt: b.ExpiresAt})
	}
	return out, err
}

// Issued reports whether data is this deployment's receipt of a request, by its key or the ledger's entry, which may
// be nil.
func (c Config) Issued(data []byte, requestID string, e *deletions.Entry) bool {
	return receipt.Genuine(data, requestID, c.SigningKey.Public().(ed25519.PublicKey), e)
}
