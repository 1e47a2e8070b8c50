package coordinator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"lethe/internal/atomicfile"
)

// Receipts keeps signed receipts.
type Receipts interface {
	Has(requestID string) (bool, error)
	// Keep stores a receipt whole or not at all, in place of an earlier one.
	Keep(requestID string, signed []byte) error
}

// ReceiptFolder is a folder that keeps each receipt as a file. A request id is safe in its name.
type ReceiptFolder string

func (f ReceiptFolder) path(requestID string) string {
	return filepath.Join(string(f), requestID+".json")
}

// Has implements Receipts.
func (f ReceiptFolder) Has(requestID string) (bool, error) {
	_, err := os.Stat(f.path(requestID))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Keep implements Receipts.
func (f ReceiptFolder) Keep(requestID string, signed []byte) error {
	return atomicfile.Write(f.path(requestID), signed, 0o644)
}
