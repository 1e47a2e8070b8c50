package snapshot

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/sortedcells"
	"lethe/internal/swapstore"
)

// Staging counts how many transactions have the same features, by content hash,
// so that an erasure need not read history to know whether finding a row says
// anything about whom it belongs to.

func alikeKey(hash contentHash) []byte { return append([]byte{kindAlike}, hash[:]...) }

func encodeCount(n int) []byte { return swapstore.Sum(int32(n)) }

func decodeCount(value []byte) (int, error) {
	n, err := swapstore.ParseSum(value)
	if err != nil {
		return 0, fmt.Errorf("%w: stored count: %w", ErrCorrupt, err)
	}
	return int(n), nil
}

// counted says how many more transactions have a content.
type counted struct {
	hash contentHash
	more int32
}

// high is what hashes are ordered by, but for those that share it.
func (h contentHash) high() uint64 { return binary.BigEndian.Uint64(h[:8]) }

// countAlike changes how many transactions have a content. A count of 0 stays
// until the next rewriting.
func (b *Batch) countAlike(hash contentHash, change int32) {
	b.counted = append(b.counted, counted{hash, change})
}

// storeCounts adds to what is stored, in the order of the keys.
func storeCounts(w swapstore.Writer, list []counted) error {
	sortedcells.Sort(list, func(c *counted) byte { return c.hash[0] }, func(a, b counted) int {
		if order := cmp.Compare(a.hash.high(), b.hash.high()); order != 0 {
			return order
		}
		return bytes.Compare(a.hash[:], b.hash[:])
	})
	var key []byte
	for i, c := range list {
		if i+1 < len(list) && list[i+1].hash == c.hash {
			list[i+1].more += c.more
			continue
		}
		key = append(append(key[:0], kindAlike), c.hash[:]...)
		if err := swapstore.Add(w, key, c.more); err != nil {
			return err
		}
	}
	return nil
}

// alike returns how many transactions have a content, as get reads staging.
func alike(get func(key []byte) ([]byte, bool, error), hash contentHash) (int, error) {
	value, found, err := get(alikeKey(hash))
	if err != nil || !found {
		return 0, err
	}
	return decodeCount(value)
}

// ContentOf is a keyed hash of features, by which HasContent knows them.
func ContentOf(secret lethe.Secret, features []float32) [len(contentHash{})]byte {
	return hashContent(secret, features)
}

// HasContent reports whether a transaction has these features, or had them before it was
// corrected: then they may still be in the files of staging.
func (m Marks) HasContent(content [len(contentHash{})]byte) (bool, error) {
	_, found, err := m.staging.Get(alikeKey(content))
	if err == nil && !found {
		found, err = widths{m.staging}.alike(content, erasure{})
	}
	if err != nil {
		return false, fmt.Errorf("count of a content: %w", err)
	}
	return found, nil
}

// alikeWithout returns the contents of transactions that go, and how many of them
// have each.
func (s *staging) alikeWithout(gone erasure) (map[contentHash]int, error) {
	out := make(map[contentHash]int)
	for p := range gone.Nodes {
		entry, known, err := lookup(s.Get, p)
		if err != nil {
			return nil, err
		}
		if known {
			out[entry.hash]++
		}
	}

	return out, nil
}

// markShared notes which of the located have the features of a transaction that
// is not among them.
func (s *staging) markShared(located []Located) error {
	gone := erasureOf(located)
	going, err := s.alikeWithout(gone)
	if err != nil {
		return err
	}
	for p := range gone.Features {
		entry, known, err := lookup(s.Get, p)
		if err != nil {
			return err
		}
		if known && !gone.Nodes[p] {
			going[entry.hash]++ // it gets other ones
		}
	}
	for i := range located {
		if !located[i].Known || located[i].Kind == lethe.PaymentTarget {
			continue
		}
		entry, _, err := lookup(s.Get, located[i].Pseudonym)
		if err != nil {
			return err
		}
		all, err := alike(s.Get, entry.hash)
		if err != nil {
			return err
		}
		located[i].Shared = all > going[entry.hash]
		err = widths{s}.candidates(located[i].Pseudonym, func(c candidate) error {
			shared, err := widths{s}.alike(c.entry.hash, gone)
			located[i].Shared = located[i].Shared || shared
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// countAll makes the counts of a store that has none.
func (s *staging) countAll() error {
	_, counted, err := s.Get([]byte{kindCounted})
	if err != nil || counted {
		return err
	}
	counts := make(map[contentHash]int)
	err = s.Scan([]byte{kindIndex}, func(_, value []byte) error {
		entry, err := decodeIndex(value)
		counts[entry.hash]++
		return err
	})
	if err != nil {
		return err
	}
	return s.Apply(func(w swapstore.Writer) error {
		for hash, n := range counts {
			if err := w.Set(alikeKey(hash), encodeCount(n)); err != nil {
				return err
			}
		}
		return w.Set([]byte{kindCounted}, nil)
	})
}
