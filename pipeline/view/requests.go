package view

import (
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/internal/swapstore"
)

// LeastDigits is the least number of digits of a digest.
const LeastDigits = 8

// ErrSeveral means that several requests have digests with these digits.
var ErrSeveral = errors.New("several requests have a digest that begins so")

// digestKey finds the status of a digest.
func digestKey(d lethe.Digest) []byte { return []byte(digestPrefix + d.String()) }

// indexAll indexes statuses by digest. The stored request wins over other records of the same content, whose keys
// are longer and come first here.
func (l *logic) indexAll(w swapstore.Writer, index map[string]*deletions.Status) error {
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(index))) {
		key, digest := index[at].Key(), index[at].RequestDigest
		known, found, err := l.store.Get(digestKey(digest))
		if err == nil && (!found || string(known) != key && !strings.Contains(key, "/")) {
			w.Set(digestKey(digest), []byte(key))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Requests finds statuses.
type Requests struct{ store *swapstore.Store }

// Requests finds statuses in the view.
func (r *Reader) Requests() Requests { return Requests{r.store} }

// Status returns the status of a record key, or nil.
func (r Requests) Status(key string) (*deletions.Status, error) {
	value, found, err := r.store.Get([]byte(statusPrefix + key))
	if err != nil || !found {
		return nil, err
	}
	s, err := deletions.DecodeStatus(value)
	return &s, err
}

// Statuses returns a page of statuses behind a key, and the last key if more follow, without repetitions.
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

// Find returns the status by digest, at least LeastDigits of it, or name, and the digests of other requests of that
// name, which were rejected. A repetition is the request it repeats. It returns nil for none. Errors: ErrSeveral,
// the store's.
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

// byDigest finds a request by at least some digits.
func (r Requests) byDigest(digits string, least int) (*deletions.Status, error) {
	if len(digits) < least || len(digits) > 2*len(lethe.Digest{}) {
		return nil, nil
	}
	if _, err := hex.DecodeString(digits[:len(digits)&^1]); err != nil || digits != strings.ToLower(digits) {
		return nil, nil //nolint:nilerr // it is no digest
	}
	var keys []string
	err := r.store.Scan([]byte(digestPrefix+digits), func(_, value []byte) error {
		if keys = append(keys, string(value)); len(keys) > 1 {
			return ErrSeveral
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return r.first(keys[0])
}

// byName finds the stored request of a name, or the newest rejected one.
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

func (r Requests) named(name string) (list []deletions.Status, err error) {
	if name == "" {
		return nil, nil // such names must not be revealed
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

// first returns the status of a key, or of the request it repeats, whose status alone is updated.
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
