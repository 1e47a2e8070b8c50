package graphs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lethe/deletions"
	"lethe/pipeline/wire"
)

// resume tells the others again what the ledger says of the open requests. The
// ledger is written before anybody is told, so a crash in between leaves
// orders and states that nobody has heard of. Hearing them twice is harmless.
//
// A request whose ids are still needed is not ordered anew here: it goes on
// when it has been read again.
func (r *Role) resume(ctx context.Context) error {
	open, err := r.ledger.Open()
	if err != nil {
		return err
	}
	for _, e := range open {
		switch e.State {
		case deletions.Suppressed:
			err = r.order(ctx, e, wire.PhaseSuppress)
		case deletions.Retraining, deletions.Swapped, deletions.Verifying:
			err = r.order(ctx, e, wire.PhasePurge)
		default:
		}
		if err == nil {
			err = r.announce(ctx, e)
		}
		if err != nil {
			return fmt.Errorf("resume request %s in state %s: %w", e.RequestID, e.State, err)
		}
	}
	return nil
}

// reissue concludes requests that were verified just before a crash, and writes
// receipts whose file has gone.
func (r *Role) reissue(ctx context.Context) error {
	done, err := r.ledger.List(deletions.Verified)
	if err != nil {
		return err
	}
	for _, e := range done {
		_, concluded, err := r.store.Marks().Get(concludedMark(e.RequestID))
		if err != nil {
			return fmt.Errorf("request %s: %w", e.RequestID, err)
		}
		if _, err := os.Stat(r.receiptPath(e.RequestID)); concluded && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := r.issueReceipt(ctx, e); err != nil {
			return fmt.Errorf("request %s: receipt: %w", e.RequestID, err)
		}
	}
	return nil
}

// concludedMark says that a request's receipt and last state were published.
func concludedMark(requestID string) []byte { return []byte("concluded/" + requestID) }
