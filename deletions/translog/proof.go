package translog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"lethe"
)

// The errors of proofs, beside those of checkpoints.
var (
	ErrNotIncluded  = errors.New("the leaf is not in the log of the checkpoint")
	ErrOtherReceipt = errors.New("the leaf is of another receipt")
)

// Proof shows that a leaf is in the log to anyone with the log's public key. Receipts and audit bundles carry it.
type Proof struct {
	Checkpoint string `json:"checkpoint"`
	Index      int64  `json:"index"`
	Leaf       string `json:"leaf"`
	// Hashes are the audit path (RFC 6962, 2.1.1), in base64.
	Hashes []tlog.Hash `json:"hashes"`
}

// CheckReceipt is Check of a receipt's proof. Errors also: ErrOtherReceipt.
func (p *Proof) CheckReceipt(payload []byte, origin string, keys ...ed25519.PublicKey) (SignedTree, error) {
	leaf, tree, err := p.Check(origin, keys...)
	if err != nil {
		return tree, err
	}
	if of, ok := leaf.(Receipt); !ok || of.Payload != lethe.Digest(sha256.Sum256(payload)) {
		return tree, fmt.Errorf("%w: leaf %d", ErrOtherReceipt, p.Index)
	}
	return tree, nil
}

// Check checks the checkpoint's signature and name (any, if empty) and the inclusion, and returns leaf and
// checkpoint. Errors: those of OpenCheckpoint, ErrNotIncluded, deletions.ErrFormat.
func (p *Proof) Check(origin string, keys ...ed25519.PublicKey) (Leaf, SignedTree, error) {
	tree, err := OpenCheckpoint(p.Checkpoint, origin, keys...)
	if err != nil {
		return nil, tree, err
	}
	if p.Index < 0 || p.Index >= tree.N {
		return nil, tree, fmt.Errorf("%w: leaf %d of %d", ErrNotIncluded, p.Index, tree.N)
	}
	hash := tlog.RecordHash([]byte(p.Leaf))
	if tlog.CheckRecord(p.Hashes, tree.N, tree.Hash, p.Index, hash) != nil {
		return nil, tree, fmt.Errorf("%w: leaf %d, size %d", ErrNotIncluded, p.Index, tree.N)
	}
	leaf, err := Decode([]byte(p.Leaf))
	return leaf, tree, err
}
