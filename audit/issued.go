package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"lethe/deletions/receipt"
	"lethe/deletions/translog"
	"lethe/internal/atomicfile"
)

// proofExtension ends the name of the file with the proof of a receipt that does not contain it, as
// receipts of earlier versions do not.
const proofExtension = ".tlog-proof"

// IssuedReceipt returns the receipt in a file with its inclusion proof in the transparency log: the
// one in the receipt, or else the one in the file next to it. The proof is nil if there is neither.
// Nothing is checked. Receipts from before the log give deletions.ErrFormat.
func IssuedReceipt(name string, data []byte) (translog.IssuedReceipt, error) {
	out := translog.IssuedReceipt{Name: filepath.Base(name)}
	var err error
	if out.Payload, err = receipt.Payload(data); err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	document, err := receipt.Decode(data)
	if err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	text, at := document.Log, name
	if text == "" {
		at = strings.TrimSuffix(name, filepath.Ext(name)) + proofExtension
		beside, err := atomicfile.Read(at, receipt.MaxBytes)
		if errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("receipt: %w", err)
		}
		text = string(beside)
	}
	proof, err := translog.ParseProof(text)
	if err != nil {
		return out, fmt.Errorf("%s: %w", at, err)
	}
	out.Proof = &proof
	return out, nil
}
