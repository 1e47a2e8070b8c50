package audit

import (
	"fmt"
	"path/filepath"

	"lethe/deletions/receipt"
	"lethe/deletions/translog"
)

// IssuedReceipt is the receipt in a file with the proof that it is in the transparency log, or a
// nil proof if it carries none. Nothing is checked.
func IssuedReceipt(name string, data []byte) (translog.IssuedReceipt, error) {
	out := translog.IssuedReceipt{Name: filepath.Base(name)}
	document, err := receipt.Decode(data)
	if err == nil {
		out.Payload, err = document.Statement()
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	if document.Log == "" {
		return out, nil
	}
	proof, err := translog.ParseProof(document.Log)
	if err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	out.Proof = &proof
	return out, nil
}
