package translog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"lethe"
)

// The reasons for which a proof is refused, beside those of a checkpoint.
var (
	ErrNotIncluded  = errors.New("the leaf is not in the log of the checkpoint")
	ErrOtherReceipt = errors.New("the leaf is of another receipt")
)

// Proof shows that a leaf is in the log, to whoever has the log's public key and nothing
// else. It is what receipts and bundles of an audit carry.
type Proof struct {
	// Checkpoint is the signed note.
	Checkpoint string `json:"checkpoint"`
	// Index is the leaf's place in the log, from 0.
	Index int64 `json:"index"`
	// Leaf is the leaf's bytes.
	Leaf string `json:"leaf"`
	// Hashes lead from the leaf's neighbour up to the root (RFC 6962, 2.1.1), in base64.
	Hashes []tlog.Hash `json:"hashes"`
}

// CheckReceipt is Check of a proof that must be of the receipt with a payload. Errors also:
// ErrOtherReceipt.
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

// Check checks the proof: the checkpoint is signed by one of keys and of the log with the
// name (any, if it is empty), and the leaf is in it. It returns the leaf and the checkpoint.
// Errors: those of OpenCheckpoint, ErrNotIncluded, deletions.ErrFormat for the leaf.
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
