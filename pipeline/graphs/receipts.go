package graphs

import (
	"context"
	"slices"

	"lethe/deletions"
	"lethe/deletions/disk"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/patientfs"
)

// patientReceipts waits where a receipt cannot be written now.
type patientReceipts struct {
	disk.ReceiptFolder
	patience *patientfs.Patience
}

// Keep implements coordinator.Receipts.
func (r patientReceipts) Keep(signed map[string][]byte) error {
	return r.patience.Do(string(r.ReceiptFolder), func() error { return r.ReceiptFolder.Keep(signed) })
}

// restoreReceipts keeps the receipts that others have issued, as they are in their topic. What is no receipt of this
// deployment is passed over.
func restoreReceipts(ctx context.Context, o Options, kept ledgercopy.Copy) error {
	folder := patientReceipts{disk.ReceiptFolder(o.ReceiptsDir), o.Patience}
	missing := make(map[string][]byte)
	err := o.Bus.ReadAll(ctx, bus.Receipts, func(rec ingest.Record) error {
		id := string(rec.Key)
		if rec.Unproven != "" {
			return nil // the view names it
		}
		if rec.Tombstone() || !deletions.ValidRequestID(id) {
			delete(missing, id)
			return nil
		}
		if has, err := folder.Has(id); has || err != nil {
			return err
		}
		var entry *deletions.Entry
		if e, known := kept.Entries[id]; known {
			entry = &e
		}
		if o.Erasure.Issued(rec.Value, id, entry) {
			missing[id] = slices.Clone(rec.Value)
		} else {
			o.Logger.Error("what is no receipt of this deployment was passed over", "topic", rec.Topic,
				"partition", rec.Partition, "offset", rec.Offset)
		}
		return nil
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	return folder.Keep(missing)
}
