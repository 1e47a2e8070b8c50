package view

import (
	"bytes"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/internal/swapstore"
)

// LeastDigits is how many digits of a request's digest name it at least.
const LeastDigits = 8

// ErrSeveral says that more than one request has a digest that begins so.
var ErrSeveral = errors.New("several requests have a digest that begins so")

// digestKey is the key under which the view finds the status of a digest.
func digestKey(d lethe.Digest) []byte { return []byte(digestPrefix + d.String()) }

// indexAll notes under which key the status of a digest is. The ledger's own request wins over an answer to
// another record of the same content, such as one that was rejected because it was not signed. Those come first, for
// their keys are longer.
func (l *logic) indexAll(w swapstore.Writer, index map[string]*deletions.Status) error {
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(index))) {
		key, digest := index[at].Key(), index[at].RequestDigest
		known, found, err := l.store.Get(digestKey(digest))
		if err == nil && (!found || string(known) != key && !strings.Contains(key, "/")) {
			err = w.Set(digestKey(digest), []byte(key))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Requests finds the statuses of requests for erasure.
type Requests struct{ store *swapstore.Store }

// Requests finds requests in the view.
func (r *Reader) Requests() Requests { return Requests{r.store} }

// Status returns the status of a request by the key of its record, or nil.
func (r Requests) Status(key string) (*deletions.Status, error) {
	value, found, err := r.store.Get([]byte(statusPrefix + key))
	if err != nil || !found {
		return nil, err
	}
	s, err := deletions.DecodeStatus(value)
	return &s, err
}

// Statuses returns a page of statuses behind a key, in the order of keys, and the key of the last
// one if more follow. Requests that repeat another are left out: theirs is its status.
func (r Requests) Statuses(after string, limit int) (list []deletions.Status, next string, err error) {
	from := []byte(statusPrefix)
	if after != "" {
		from = append([]byte(statusPrefix+after), 0)
	}
	list = []deletions.Status{}
	err = r.store.ScanFrom([]byte(statusPrefix), from, func(_, value []byte) error {
		s, err := deletions.DecodeStatus(value)
		switch {
		case err != nil || !s.Repeats.IsZero():
			return err
		case len(list) == limit:
			next = list[limit-1].Key()
			return errEnough
		}
		list = append(list, s)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return list, next, err
}

// Find returns the status of a request by its digest, by the first digits of it, at least LeastDigits, or by its
// name, and the digests of other requests of the same name, whose content differs. Of several requests of one name
// the name means the one that has it; the others were rejected. A request that repeats another is that one. It returns
// nil if there is no such request. Errors: ErrSeveral, those of the store.
func (r Requests) Find(key string) (s *deletions.Status, others []lethe.Digest, err error) {
	if s, err = r.byDigest(key, 2*len(lethe.Digest{})); err != nil || s == nil {
		s, err = r.byName(key)
	}
	if err == nil && s == nil {
		s, err = r.byDigest(key, LeastDigits)
	}
	if err != nil || s == nil {
		return nil, nil, err
	}
	named, err := r.named(s.RequestID)
	for _, other := range named {
		if other.Repeats.IsZero() && other.RequestDigest != s.RequestDigest && !slices.Contains(others, other.RequestDigest) {
			others = append(others, other.RequestDigest)
		}
	}
	return s, others, err
}

// byDigest finds a request by at least so many digits of its digest.
func (r Requests) byDigest(digits string, least int) (*deletions.Status, error) {
	if len(digits) < least || len(digits) > 2*len(lethe.Digest{}) {
		return nil, nil
	}
	if _, err := hex.DecodeString(digits[:len(digits)&^1]); err != nil || digits != strings.ToLower(digits) {
		return nil, nil //nolint:nilerr // it is no digest
	}
	var keys []string
	err := r.store.Scan([]byte(digestPrefix+digits), func(_, value []byte) error {
		keys = append(keys, string(bytes.Clone(value)))
		if len(keys) > 1 {
			return errEnough
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		return nil, ErrSeveral
	case err != nil || len(keys) == 0:
		return nil, err
	}
	return r.first(keys[0])
}

// byName finds the request that has a name or, if none has it, the newest that was rejected under it.
func (r Requests) byName(name string) (*deletions.Status, error) {
	s, err := r.first(name)
	if err != nil || s != nil || name == "" {
		return s, err
	}
	list, err := r.named(name)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	newest := slices.MaxFunc(list, func(a, b deletions.Status) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return &newest, nil
}

// named returns all statuses under a name.
func (r Requests) named(name string) (list []deletions.Status, err error) {
	if name == "" {
		return nil, nil // names that must not be told
	}
	own, err := r.Status(name)
	if err == nil && own != nil {
		list = append(list, *own)
	}
	if err != nil {
		return nil, err
	}
	err = r.store.Scan([]byte(statusPrefix+name+"/"), func(_, value []byte) error {
		s, err := deletions.DecodeStatus(value)
		list = append(list, s)
		return err
	})
	return list, err
}

// first returns the status under a key or, if that repeats another, of the one that it repeats: the status of the later
// one is not written again when the first goes on.
func (r Requests) first(key string) (*deletions.Status, error) {
	s, err := r.Status(key)
	if err != nil || s == nil || s.Repeats.IsZero() {
		return s, err
	}
	own, err := r.Status(s.RequestID)
	if err != nil || own == nil || own.RequestDigest != s.Repeats {
		return s, err
	}
	return own, nil
}
