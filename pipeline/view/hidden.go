package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
)

// hidden is what readers are not told of: the transactions of which a command said that they are
// suppressed, and those that are purged, which are not stored any more either. One goroutine
// changes it.
type hidden struct {
	secret lethe.Secret
	mu     sync.RWMutex
	names  map[name]byte
	// leaving is held by those who send something to where people cannot be told to forget it.
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

// is reports whether nobody is to be told of a transaction.
func (h *hidden) is(n name) bool {
	_, found := h.of(n)
	return found
}

// isPurged reports whether nothing of a transaction is to be stored.
func (h *hidden) isPurged(n name) bool {
	how, found := h.of(n)
	return found && how == purged
}

// put notes how far the erasure of targets is; it never goes back. Whoever asks is told nothing
// of them before it is in the store.
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
			if err := w.Set(key, []byte{how}); err != nil {
				return err
			}
		}
		return nil
	})
}

// lift tells of targets again whose request was taken back.
func (h *hidden) lift(store *swapstore.Store, targets []lethe.Digest) error {
	err := store.Apply(func(w swapstore.Writer) error {
		var errs []error
		for _, target := range targets {
			errs = append(errs, w.Delete(append([]byte(suppressedPrefix), target[:]...)))
		}
		return errors.Join(errs...)
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

// WhileShown calls do and returns true if people are told of a transaction, and false if not. That
// a transaction is suppressed is not said before do has returned: what do sends has left before, and
// nothing leaves afterwards. So do must not take long.
func (r *Reader) WhileShown(id lethe.TransactionID, do func()) bool {
	r.hidden.leaving.RLock()
	defer r.hidden.leaving.RUnlock()
	if r.hidden.is(nameOfID(r.secret, id)) {
		return false
	}
	do()
	return true
}

// awaitLeaving waits for those who began to send something before they could know that it is hidden.
func (h *hidden) awaitLeaving() {
	h.leaving.Lock()
	defer h.leaving.Unlock()
}

// searched searches the role's files, writes the store anew if something is in them, and
// acknowledges what is left.
func (l *logic) searched(ctx context.Context, e *erasure, step deletions.Step, note *int) (role.Output, error) {
	summary, err := search(ctx, l, e)
	if err == nil && summary.Hits > 0 {
		if err = scrub(ctx, l, e.scanner); err == nil {
			summary, err = search(ctx, l, e)
		}
	}
	if err != nil {
		return role.Output{}, err
	}
	a := newAck(l, e.command, step)
	a.Scan = &summary
	return role.Acknowledge(a, note)
}

func search(ctx context.Context, l *logic, e *erasure) (scan.Summary, error) {
	return e.command.Search(ctx, l.o.Secret, swapstore.Files(l.o.FS, l.o.Dir), l.o.Pacer)
}

// scrub writes the store anew, so that no byte stays of what was deleted or replaced. Of what
// others wrote and their next message replaces, entries that still name something erased are
// left out.
func scrub(ctx context.Context, l *logic, scanner *scan.Scanner) error {
	err := l.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			made := bytes.HasPrefix(key, []byte(reasonsPrefix)) || bytes.HasPrefix(key, []byte(manifestPrefix)) ||
				bytes.HasPrefix(key, []byte(letterPrefix))
			if made && len(scanner.ScanBytes(value)) > 0 {
				return nil
			}
			return dst.Set(key, value)
		})
	})
	if err != nil {
		return fmt.Errorf("write the store anew: %w", err)
	}
	return nil
}
