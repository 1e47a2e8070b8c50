package view

import (
	"fmt"
	"maps"
	"sync"

	"lethe"
	"lethe/internal/swapstore"
)

// hidden are the suppressed transactions, which readers do not see, and the purged ones, which are not stored. One
// goroutine changes it.
type hidden struct {
	secret lethe.Secret
	mu     sync.RWMutex
	names  map[name]byte
	// leaving is held while something is sent that cannot be recalled.
	leaving sync.RWMutex
}

func readHidden(store swapstore.Reader, secret lethe.Secret) (*hidden, error) {
	h := &hidden{secret: secret, names: make(map[name]byte)}
	return h, store.Scan([]byte(suppressedPrefix), func(key, value []byte) error {
		target := key[len(suppressedPrefix):]
		if len(target) != nameBytes || len(value) != 1 {
			return fmt.Errorf("%w: what is suppressed", swapstore.ErrCorrupt)
		}
		h.names[nameOf(secret, lethe.Digest(target))] = value[0]
		return nil
	})
}

func (h *hidden) of(n name) (how byte, found bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	how, found = h.names[n]
	return how, found
}

// is reports whether readers must not see a transaction.
func (h *hidden) is(n name) bool {
	_, found := h.of(n)
	return found
}

// isPurged reports whether a transaction must not be stored.
func (h *hidden) isPurged(n name) bool {
	how, found := h.of(n)
	return found && how == purged
}

// put records the progress of targets' erasure, first in memory.
func (h *hidden) put(store *swapstore.Store, targets []lethe.Digest, how byte) error {
	fresh := make(map[name]byte)
	var keys [][]byte
	for _, target := range targets {
		n := nameOf(h.secret, target)
		if known, found := h.of(n); !found || known < how {
			fresh[n] = how
			keys = append(keys, append([]byte(suppressedPrefix), target[:]...))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	h.mu.Lock()
	maps.Copy(h.names, fresh)
	h.mu.Unlock()
	h.awaitLeaving()
	return store.Apply(func(w swapstore.Writer) error {
		for _, key := range keys {
			w.Set(key, []byte{how})
		}
		return nil
	})
}

// lift shows cancelled targets again.
func (h *hidden) lift(store *swapstore.Store, targets []lethe.Digest) error {
	err := store.Apply(func(w swapstore.Writer) error {
		for _, target := range targets {
			w.Delete(append([]byte(suppressedPrefix), target[:]...))
		}
		return nil
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, target := range targets {
		delete(h.names, nameOf(h.secret, target))
	}
	return nil
}

// WhileShown calls do if a transaction is shown, and reports that. It is acknowledged as suppressed only after do
// has returned, so do must be quick.
func (r *Reader) WhileShown(id lethe.TransactionID, do func()) bool {
	r.hidden.leaving.RLock()
	defer r.hidden.leaving.RUnlock()
	if r.hidden.is(nameOfID(r.secret, id)) {
		return false
	}
	do()
	return true
}

// awaitLeaving waits for senders that began before.
func (h *hidden) awaitLeaving() {
	h.leaving.Lock()
	defer h.leaving.Unlock()
}
