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

// receiptFolder keeps each receipt as a file. A request id is safe in its name.
type receiptFolder string

func (f receiptFolder) path(requestID string) string {
	return filepath.Join(string(f), requestID+".json")
}

// Has implements Receipts.
func (f receiptFolder) Has(requestID string) (bool, error) {
	_, err := os.Stat(f.path(requestID))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Keep implements Receipts.
func (f receiptFolder) Keep(requestID string, signed []byte) error {
	return atomicfile.Write(f.path(requestID), signed, 0o644)
}
