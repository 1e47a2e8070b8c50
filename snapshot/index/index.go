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

// Store is where the entries are.
type Store interface {
	Get(key []byte) (value []byte, found bool, err error)
	Scan(prefix []byte, fn func(key, value []byte) error) error
	ScanFrom(prefix, from []byte, fn func(key, value []byte) error) error
}

// Index knows of most transactions that are not in the store that they are not, without reading it. What the store had
// when it was opened it learns a part at a time, and nothing is a stranger before it has all. One goroutine owns it.
// Every entry that is stored has to be met.
type Index struct {
	// AtOnce is how many entries Learn reads.
	AtOnce int

	store Store
	known *keyfilter.Filter
	// from is the key to go on from, nil once all are learnt.
	from     []byte
	contents contents
}

// New returns an index of which nothing is learnt.
func New(store Store) *Index {
	// Memory for some 16 million transactions, 12 bits each: of more, it is asked in vain more and more often. And a few
	// milliseconds for a part.
	const mostBytes, atOnce = 24 << 20, 50_000
	return &Index{
		AtOnce: atOnce, store: store, known: keyfilter.New(mostBytes), from: []byte{Kind}, contents: newContents(),
	}
}

// Learn learns the next of what the store has. Errors: stored.ErrCorrupt, those of the store.
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

// Learnt reports whether all is learnt that the store had when it was opened.
func (x *Index) Learnt() bool { return x.from == nil }

// MayKnow reports whether a transaction may be in the store. If it is, it is reported.
func (x *Index) MayKnow(p lethe.Pseudonym) bool { return !x.Learnt() || x.known.MayHave(p) }

// Know learns a key that is about to be stored, or is, if it is one of the index.
func (x *Index) Know(key []byte) {
	if key[0] == Kind && len(key) == 1+stored.PseudonymBytes {
		x.known.Add(lethe.Pseudonym(key[1:]))
	}
}

// Meet learns what is about to be stored, if it is an entry. The content of one that Learn comes to
// later is left to it.
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
