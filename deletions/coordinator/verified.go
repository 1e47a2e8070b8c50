package coordinator

import (
	"context"
	"fmt"

	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// verified issues the receipt and publishes the request's last state, unless that
// was done and the receipt is still there. Killed before it is done, it is done
// again at the next start with the same content.
func (s *states) verified(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	concluded, err := s.o.Notes.Concluded(e.RequestID)
	if err != nil {
		return e, err
	}
	kept, err := s.o.Receipts.Has(e.RequestID)
	if err != nil {
		return e, fmt.Errorf("receipt: %w", err)
	}
	if concluded && kept {
		return e, nil
	}
	if err := s.issue(ctx, e); err != nil {
		return e, fmt.Errorf("receipt: %w", err)
	}
	// The command and its answers are of no use any more.
	records := append([]ingest.Outgoing{{Key: wire.CommandKey(e.RequestID)}}, s.acks.drop(e.RequestID)...)
	if err := s.o.Bus.Write(ctx, bus.ErasureStatus, records); err != nil {
		return e, err
	}
	if err := s.out.announce(ctx, e); err != nil {
		return e, err
	}
	return e, s.o.Notes.Conclude(e.RequestID)
}

// issue signs what was done, keeps the receipt and publishes it.
func (s *states) issue(ctx context.Context, e deletions.Entry) error {
	signed, err := receipt.Sign(receipt.New(e, receipt.Facts{
		KernelSet:       s.o.KernelSet,
		SoftwareVersion: s.o.Version,
		Artefacts:       artefacts(e),
	}), s.o.SigningKey)
	if err != nil {
		return err
	}
	if err := s.o.Receipts.Keep(e.RequestID, signed); err != nil {
		return err
	}
	if err := s.o.Bus.Write(ctx, bus.Receipts, []ingest.Outgoing{{Key: []byte(e.RequestID), Value: signed}}); err != nil {
		return err
	}
	s.o.Logger.Info("erasure verified", "request_id", e.RequestID,
		"slices_replaced", len(e.Progress.Slices), "shards_retrained", len(e.Progress.Retrained))
	return nil
}
