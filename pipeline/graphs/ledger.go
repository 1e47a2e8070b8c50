package graphs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/coordinator"
	"lethe/deletions/disk"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/patientfs"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// restoreLedger adds missing entries to the ledger and to its copy.
func restoreLedger(ctx context.Context, o Options, store *snapshot.Store, ledger *deletions.Ledger) error {
	kept, err := ledgercopy.Read(ctx, o.Bus)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	uncopied, err := kept.Restore(ledger)
	if errors.Is(err, ledgercopy.ErrLost) {
		return fmt.Errorf("%w: %w (put the folder %s/ledger back from a copy, or %s)", ErrLost, err, o.Dir, remedyAnew)
	}
	if err != nil {
		return err
	}
	// Before anything is copied: the next start must find the same.
	if err := refuseOlder(ctx, o, store, uncopied); err != nil {
		return err
	}
	holds, err := kept.UncopiedHolds(ledger)
	if err == nil && len(uncopied)+len(holds) > 0 {
		err = refuseCut(ctx, o.Bus, store)
	}
	if err != nil {
		return err
	}
	for _, e := range uncopied {
		records, err := ledgercopy.Records(e)
		if err != nil {
			return err
		}
		if err := wire.PublishRecords(ctx, o.Bus, records); err != nil {
			return err
		}
	}
	if err := coordinator.PublishHolds(ctx, o.Bus, o.Erasure.SigningKey, holds...); err != nil {
		return err
	}
	return requireEntries(o, ledger)
}

// refuseCut rejects topics that end before the consumed offsets. The ledger must not be copied to them: with the copy
// they would no longer look older than the ledger.
func refuseCut(ctx context.Context, topics Bus, store *snapshot.Store) error {
	ends := make(map[bus.Topic][]int64)
	for at, next := range store.Offsets() {
		topic := bus.Topic(at.Topic)
		if ends[topic] == nil {
			var err error
			if ends[topic], err = topics.EndOffsets(ctx, topic); err != nil {
				return err
			}
		}
		if at.Partition < len(ends[topic]) && next > ends[topic][at.Partition] {
			return fmt.Errorf("follow %s/%d from %d: %w", topic, at.Partition, next, bus.PastEnd(ends[topic][at.Partition]))
		}
	}
	return nil
}

// requireEntries checks that the ledger has every request with a receipt.
func requireEntries(o Options, ledger *deletions.Ledger) error {
	files, err := os.ReadDir(o.ReceiptsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range files {
		id, isReceipt := strings.CutSuffix(file.Name(), ".json")
		if !isReceipt || !deletions.ValidRequestID(id) {
			continue
		}
		_, err := ledger.Get(id)
		if errors.Is(err, deletions.ErrUnknownRequest) {
			return fmt.Errorf("%w: neither the ledger nor its copy knows request %s, which has a receipt "+
				"(put the folder %s/ledger back from a copy; to start over, move the receipts elsewhere)", ErrLost, id, o.Dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetLedger deletes ledger and log, which are rebuilt from the topics. The registry of backups, which no topic has,
// stays.
func forgetLedger(o Options) error {
	_, store, err := disk.OpenLedger(o.FS, o.Dir, o.Clock.Now)
	if err != nil {
		return err
	}
	list, err := backups.In(disk.KV(store)).List()
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	if err := disk.RemoveLedger(o.FS, o.Dir); err != nil || len(list) == 0 {
		return err
	}
	if _, store, err = disk.OpenLedger(o.FS, o.Dir, o.Clock.Now); err != nil {
		return err
	}
	for _, b := range list {
		err = errors.Join(err, backups.In(disk.KV(store)).Put(b))
	}
	return errors.Join(err, store.Close())
}

// patientReceipts waits while a receipt cannot be written.
type patientReceipts struct {
	disk.ReceiptFolder
	patience *patientfs.Patience
}

// Keep implements coordinator.Receipts.
func (r patientReceipts) Keep(signed map[string][]byte) error {
	return r.patience.Do(string(r.ReceiptFolder), func() error { return r.ReceiptFolder.Keep(signed) })
}

// restoreReceipts stores the published receipts of other processes. It ignores records that are no receipts of this
// deployment.
func restoreReceipts(ctx context.Context, o Options, kept ledgercopy.Copy) error {
	folder := patientReceipts{disk.ReceiptFolder(o.ReceiptsDir), o.Patience}
	missing := make(map[string][]byte)
	err := o.Bus.ReadAll(ctx, bus.Receipts, func(rec ingest.Record) error {
		id := string(rec.Key)
		if rec.Unauthenticated != "" {
			return nil // the view reports it
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
			o.Logger.Error("what is no receipt of this deployment was ignored", "topic", rec.Topic,
				"partition", rec.Partition, "offset", rec.Offset)
		}
		return nil
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	return folder.Keep(missing)
}
