package graphs

import (
	"context"
	"errors"
	"fmt"

	"lethe/deletions"
	"lethe/deletions/translog"
)

// startLog opens the transparency log, compares it with what was published of it, and has
// the ledger written down in it from now on.
func startLog(ctx context.Context, o Options, kv deletions.KV, ledger *deletions.Ledger) (*translog.Log, error) {
	signer, err := translog.NewSigner(translog.Name(o.Erasure.Deployment.String()), o.Erasure.SigningKey)
	if err != nil {
		return nil, fmt.Errorf("transparency log: %w", err)
	}
	entries, err := ledger.List()
	if err != nil {
		return nil, err
	}
	holds, err := ledger.Holds()
	if err != nil {
		return nil, err
	}
	log := translog.NewLog(kv, signer)
	if before := o.Erasure.KeyBefore; before != nil && !before.Equal(o.Erasure.SigningKey) {
		log.Follow(before, o.Clock.Now())
	}
	err = log.Start(ctx, o.Bus, deletions.Changes{Entries: entries, Holds: holds})
	var refusal *translog.Refusal
	if errors.As(err, &refusal) && refusal.Statement == translog.StatementKey {
		return nil, fmt.Errorf("%w: %w (put the signing key of before back; lethe log rotate-key replaces it by a new one)",
			ErrLost, err)
	}
	if errors.As(err, &refusal) {
		return nil, fmt.Errorf("%w: %w (put the folder %s/ledger back from a newer copy, or remove it, "+
			"to have it made again from the topics)", ErrLost, err, o.Dir)
	}
	if err != nil {
		return nil, err
	}
	ledger.Keep(log)
	return log, nil
}
