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

// proofExtension ends the file of the proof beside a receipt that does not carry it yet, as
// those of before have it.
const proofExtension = ".tlog-proof"

// IssuedReceipt is the receipt in a file with the proof that it is in the transparency log:
// the one that it carries, or else the one that lies beside it. The proof is nil if there is
// neither. Nothing is checked.
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
