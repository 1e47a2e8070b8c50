// Package lacking bounds the records of staging that wait for missing transactions.
package lacking

import (
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/snapshot/index"
	"lethe/snapshot/stored"
)

// Get reads the store as it will be.
type Get = func(key []byte) (value []byte, found bool, err error)

// Records bounds the payments, or the labels, that wait for missing transactions, so that a
// sender cannot fill the store with records that never join a graph. keys also holds entries
// whose transactions were not checked since they arrived; they are checked only when the bound is
// reached.
type Records struct {
	kind byte
	// Most is the bound.
	Most int
	keys map[string]struct{}
	// by maps transactions to the keys that name them, once the keys were checked; else it is nil.
	by map[lethe.Pseudonym][]string
}

// New returns a bound of the entries of a kind.
func New(kind byte, most int) *Records {
	return &Records{kind: kind, Most: most, keys: make(map[string]struct{})}
}

// Load adds the entries that a store holds.
func (l *Records) Load(s swapstore.Reader) error {
	return s.Scan([]byte{l.kind}, func(key, _ []byte) error {
		if len(l.keys) >= l.Most {
			if complete, err := isComplete(s.Get, key); err != nil || complete {
				return err
			}
		}
		l.keys[string(key)] = struct{}{}
		return nil
	})
}

// Admits reports whether a new entry may be stored, and counts it. An entry whose transactions
// are all present is always admitted.
func (l *Records) Admits(get Get, key []byte) (bool, error) {
	if len(l.keys) >= l.Most {
		if complete, err := isComplete(get, key); err != nil || complete {
			return complete, err
		}
		if err := l.look(get); err != nil {
			return false, err
		}
	}
	if len(l.keys) >= l.Most {
		return false, nil
	}
	l.keys[string(key)] = struct{}{}
	if l.by != nil {
		l.index(string(key))
	}
	return true, nil
}

// look removes keys that staging no longer holds or whose transactions are present, unless by is
// current.
func (l *Records) look(get Get) error {
	if l.by != nil {
		return nil
	}
	for key := range l.keys {
		_, found, err := get([]byte(key))
		complete := false
		if err == nil && found {
			complete, err = isComplete(get, []byte(key))
		}
		if err != nil {
			return err
		}
		if !found || complete {
			delete(l.keys, key)
		}
	}
	l.by = make(map[lethe.Pseudonym][]string)
	for key := range l.keys {
		l.index(key)
	}
	return nil
}

func (l *Records) index(key string) {
	for rest := key[1+timestepkey.Bytes:]; len(rest) >= stored.PseudonymBytes; rest = rest[stored.PseudonymBytes:] {
		p := lethe.Pseudonym([]byte(rest[:stored.PseudonymBytes]))
		l.by[p] = append(l.by[p], key)
	}
}

// Arrived removes the keys that are complete now that transaction p has arrived.
func (l *Records) Arrived(get Get, p lethe.Pseudonym) error {
	for _, key := range l.by[p] {
		complete, err := isComplete(get, []byte(key))
		if err != nil {
			return err
		}
		if complete {
			delete(l.keys, key)
		}
	}
	delete(l.by, p)
	return nil
}

// isComplete reports whether all transactions that a payment or label names are in its timestep,
// according to get.
func isComplete(get Get, key []byte) (bool, error) {
	at, _, err := timestepkey.Cut(string(key[:1]), key)
	if err != nil {
		return false, fmt.Errorf("%w: %w", stored.ErrCorrupt, err)
	}
	for rest := key[1+timestepkey.Bytes:]; len(rest) >= stored.PseudonymBytes; rest = rest[stored.PseudonymBytes:] {
		p := lethe.Pseudonym(rest[:stored.PseudonymBytes])
		entry, known, err := index.Lookup(get, p)
		if err != nil {
			return false, err
		}
		if !known || entry.Timestep != at {
			return false, nil
		}
	}
	return true, nil
}

// Changed forces a new check, because the store changed otherwise than by arrivals.
func (l *Records) Changed() { l.by = nil }
