package translog

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strconv"
	"strings"

	"lethe/deletions"
)

const (
	logPrefix  = "log/"
	leafPrefix = logPrefix + "leaf/"
	// indexDigits pads indexes, so that keys sort.
	indexDigits = 16
)

func leafKey(index int64) []byte {
	return fmt.Appendf([]byte(leafPrefix), "%0*d", indexDigits, index)
}

func checkpointKey() []byte { return []byte(logPrefix + "checkpoint") }

// parseIndex reads an index, or returns -1.
func parseIndex(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) != indexDigits {
		return -1
	}
	return n
}

// Copy is an unchecked log of a store or topic.
type Copy struct {
	// Leaves are in order, up to the first missing one.
	Leaves [][]byte
	// Checkpoint is the signed note, or empty.
	Checkpoint string
	// Beyond counts leaves behind a missing one.
	Beyond int
}

// ReadStored reads the log of a store.
func ReadStored(kv deletions.KV) (Copy, error) {
	var c Copy
	err := kv.Scan([]byte(logPrefix), func(key, value []byte) error {
		if bytes.Equal(key, checkpointKey()) {
			c.Checkpoint = string(value)
			return nil
		}
		index, isLeaf := strings.CutPrefix(string(key), leafPrefix)
		switch {
		case !isLeaf:
		case parseIndex(index) == int64(len(c.Leaves)):
			c.Leaves = append(c.Leaves, bytes.Clone(value))
		default:
			c.Beyond++
		}
		return nil
	})
	if err != nil {
		return c, fmt.Errorf("transparency log: %w", err)
	}
	return c, nil
}

func readLeaf(kv deletions.KV, index int64) (text []byte, err error) {
	err = kv.Scan(leafKey(index), func(_, value []byte) error {
		text = bytes.Clone(value)
		return nil
	})
	if err == nil && text == nil {
		err = fmt.Errorf("%w: %d", ErrNoLeaf, index)
	}
	return text, err
}

// checkTree compares the tree of the leaves with the checkpoint, which the key for its size must have signed. An
// empty origin is the checkpoint's.
func (c Copy) checkTree(f *Findings, origin string, trusted ed25519.PublicKey) (Tree, Keys, SignedTree) {
	var tree Tree
	if checkpoint, err := ParseCheckpoint(c.Checkpoint); err == nil && origin == "" {
		origin = checkpoint.Origin
	}
	keys, err := KeysOf(origin, c.Leaves, trusted)
	f.take(StatementKey, err)
	if err == nil {
		err = tree.Append(c.Leaves...)
		f.take(StatementTree, err)
	}
	if err != nil {
		return tree, keys, SignedTree{}
	}
	if c.Beyond > 0 {
		f.refuse(StatementTree, "leaf %d is missing, %d behind it are there", len(c.Leaves), c.Beyond)
	}
	if c.Checkpoint == "" {
		f.refuse(StatementCheckpoint, "there is no checkpoint of %d leaves", len(c.Leaves))
		return tree, keys, SignedTree{}
	}
	signed, err := keys.Open(c.Checkpoint, origin)
	if err != nil {
		f.refuse(StatementCheckpoint, "%v", err)
		return tree, keys, signed
	}
	now, err := tree.Now()
	switch {
	case err != nil:
		f.refuse(StatementTree, "%v", err)
	case signed.N > now.N:
		f.refuse(StatementTree, "the checkpoint is of %d leaves, the log has %d: the end was cut off", signed.N, now.N)
	case signed.N < now.N:
		f.refuse(StatementTree, "the checkpoint is of %d leaves, the log has %d", signed.N, now.N)
	case signed.Hash != now.Hash:
		f.refuse(StatementTree, "the root of the %d leaves is not that of the checkpoint: "+
			"a leaf was dropped, changed or moved",
			now.N)
	}
	return tree, keys, signed
}

// Each calls fn with every leaf in order.
func (l *Log) Each(fn func(index int64, leaf Leaf) error) error {
	stored, err := ReadStored(l.kv)
	if err != nil {
		return err
	}
	for i, text := range stored.Leaves {
		leaf, err := Decode(text)
		if err == nil {
			err = fn(int64(i), leaf)
		}
		if err != nil {
			return fmt.Errorf("leaf %d: %w", i, err)
		}
	}
	return nil
}
