package translog

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrNotIncluded refuses a proof, beside the errors of a checkpoint.
var ErrNotIncluded = errors.New("the leaf is not in the log of the checkpoint")

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

// Check checks the proof: the checkpoint is signed by the key and of the log with the name
// (any, if it is empty), and the leaf is in it. It returns the leaf and the checkpoint.
// Errors: those of OpenCheckpoint, ErrNotIncluded, deletions.ErrFormat for the leaf.
func (p *Proof) Check(origin string, key ed25519.PublicKey) (Leaf, SignedTree, error) {
	tree, err := OpenCheckpoint(p.Checkpoint, origin, key)
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
