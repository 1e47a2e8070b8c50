package index

import (
	"bytes"
	"errors"

	"lethe"
	"lethe/internal/keyfilter"
	"lethe/snapshot/stored"
)

// errStop ends a scan early.
var errStop = errors.New("enough")

// Store holds the entries.
type Store interface {
	Get(key []byte) (value []byte, found bool, err error)
	Scan(prefix []byte, fn func(key, value []byte) error) error
	ScanFrom(prefix, from []byte, fn func(key, value []byte) error) error
}

// Index is a Bloom filter over the index entries: it answers "certainly not stored" for most unknown transactions
// without a read. Learn loads the entries that were stored at open, one part at a time; until all are loaded, every
// transaction may be known. One goroutine owns it. Meet must see every entry that is stored.
type Index struct {
	// AtOnce is how many entries one call of Learn reads.
	AtOnce int

	store Store
	known *keyfilter.Filter
	// from is the key to continue from, nil once all entries are loaded.
	from     []byte
	contents contents
}

// New returns an index with nothing loaded.
func New(store Store) *Index {
	// 24 MiB hold about 16 million transactions at 12 bits each; beyond that, false positives increase. 50,000 entries
	// take a few milliseconds.
	const mostBytes, atOnce = 24 << 20, 50_000
	return &Index{
		AtOnce: atOnce, store: store, known: keyfilter.New(mostBytes), from: []byte{Kind}, contents: newContents(),
	}
}

// Learn loads the next part of the stored entries. Errors: stored.ErrCorrupt, those of the store.
func (x *Index) Learn() error {
	if x.Learnt() {
		return nil
	}
	n := 0
	err := x.store.ScanFrom([]byte{Kind}, x.from, func(key, value []byte) error {
		if n == x.AtOnce {
			x.from = bytes.Clone(key)
			return errStop
		}
		n++
		x.Know(key)
		entry, err := Decode(value)
		x.contents.meet(entry.Content)
		return err
	})
	if err == nil {
		x.from = nil
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	return err
}

// Learnt reports whether all entries that were stored at open are loaded.
func (x *Index) Learnt() bool { return x.from == nil }

// MayKnow reports whether a transaction may be in the store; there are no false negatives.
func (x *Index) MayKnow(p lethe.Pseudonym) bool { return !x.Learnt() || x.known.MayHave(p) }

// Know adds a key of the index that is stored or about to be stored; it ignores other keys.
func (x *Index) Know(key []byte) {
	if key[0] == Kind && len(key) == 1+stored.PseudonymBytes {
		x.known.Add(lethe.Pseudonym(key[1:]))
	}
}

// Meet adds an entry that is about to be stored; it ignores other keys. Contents of entries that
// Learn has yet to reach are left to Learn.
func (x *Index) Meet(key, value []byte) {
	x.Know(key)
	if key[0] != Kind {
		return
	}
	content := Content(value[timestepBytes:])
	delete(x.contents.holders, content)
	if x.Learnt() || bytes.Compare(key, x.from) < 0 {
		x.contents.meet(content)
	}
}
