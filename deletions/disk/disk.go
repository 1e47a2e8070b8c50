// Package disk stores the ledger and the transparency log in Pebble, and receipts as files.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/deletions"
	"lethe/internal/atomicfile"
	"lethe/internal/swapstore"
)

// ledgerStore is never rewritten: it holds keyed hashes and the transparency log only.
type ledgerStore struct{ *swapstore.Store }

// Put implements deletions.KV.
func (l ledgerStore) Put(rows ...deletions.Row) error {
	return l.Apply(func(w swapstore.Writer) error {
		for _, row := range rows {
			w.Set(row.Key, row.Value)
		}
		return nil
	})
}

var _ deletions.KV = ledgerStore{}

// KV is the ledger's store, also for the transparency log.
func KV(store *swapstore.Store) deletions.KV { return ledgerStore{store} }

// OpenLedger opens the ledger below a role's folder; the caller closes the store. clock may be nil for reading.
func OpenLedger(
	fsys vfs.FS, dir string, clock func() time.Time,
) (*deletions.Ledger, *swapstore.Store, error) {
	store, err := swapstore.Open(fsys, filepath.Join(dir, ledgerFolder),
		swapstore.Format{Kind: "erasure-ledger", Version: 1})
	if err != nil {
		return nil, nil, fmt.Errorf("open ledger: %w", err)
	}
	return deletions.NewLedger(ledgerStore{store}, clock), store, nil
}

const ledgerFolder = "ledger"

// RemoveLedger deletes the ledger's store below a role's folder. It must not be open.
func RemoveLedger(fsys vfs.FS, dir string) error {
	err := fsys.RemoveAll(filepath.Join(dir, ledgerFolder))
	if err == nil {
		err = swapstore.SyncDir(fsys, dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // without the folder there is nothing to remove
		return fmt.Errorf("remove ledger: %w", err)
	}
	return nil
}

// ReceiptFolder stores each receipt as a file named by its request id.
type ReceiptFolder string

func receiptName(requestID string) string { return requestID + ".json" }

// Has implements coordinator.Receipts.
func (f ReceiptFolder) Has(requestID string) (bool, error) {
	_, err := os.Stat(filepath.Join(string(f), receiptName(requestID)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Keep implements coordinator.Receipts.
func (f ReceiptFolder) Keep(signed map[string][]byte) error {
	files := make(map[string][]byte, len(signed))
	for requestID, document := range signed {
		files[receiptName(requestID)] = document
	}
	return atomicfile.WriteAll(string(f), files, 0o644)
}
