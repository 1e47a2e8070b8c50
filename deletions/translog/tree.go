package translog

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Tree is the Merkle tree over leaves, some 64 bytes each in memory. It is computed from the leaves, so that no
// stored hash can hide a changed one.
type Tree struct {
	size   int64
	hashes []tlog.Hash
}

// ReadHashes implements tlog.HashReader.
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if at < 0 || at >= int64(len(t.hashes)) {
			return nil, fmt.Errorf("hash %d of a tree that has %d", at, len(t.hashes))
		}
		out[i] = t.hashes[at]
	}
	return out, nil
}

// Append adds the bytes of leaves.
func (t *Tree) Append(leaves ...[]byte) error {
	for _, leaf := range leaves {
		more, err := tlog.StoredHashes(t.size, leaf, t)
		if err != nil {
			return fmt.Errorf("leaf %d: %w", t.size, err)
		}
		t.hashes = append(t.hashes, more...)
		t.size++
	}
	return nil
}

// Size is the number of leaves.
func (t *Tree) Size() int64 { return t.size }

// At returns the tree of an earlier size.
func (t *Tree) At(size int64) (tlog.Tree, error) {
	if size < 0 || size > t.size {
		return tlog.Tree{}, fmt.Errorf("size %d of a tree of %d leaves", size, t.size)
	}
	root, err := tlog.TreeHash(size, t)
	return tlog.Tree{N: size, Hash: root}, err
}

// Now returns the present tree.
func (t *Tree) Now() (tlog.Tree, error) { return t.At(t.size) }
