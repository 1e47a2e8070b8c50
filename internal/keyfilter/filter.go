// Package keyfilter is a Bloom filter: it answers "certainly not added" for most keys that were not added. All bits
// of a key are in one cache line (F. Putze, P. Sanders, J. Singler, Cache-, Hash- and Space-Efficient Bloom
// Filters, 2007). It starts small and grows once to its full size.
package keyfilter

import (
	"encoding/binary"
	"math/bits"
)

// Key is a key of the filter. Keys must be uniformly distributed, as pseudonyms are: their own bits select the
// positions in the filter.
type Key = [16]byte

const (
	// probes is the number of bits that a key sets, each selected by probeBits bits of the key.
	probes, probeBits = 7, 9
	// blockWords is the number of words of a block, which has 1<<probeBits bits.
	blockWords = 1 << probeBits / 64
	blockBytes = blockWords * 8
	// firstBytes is the size of the first part, for firstKeys keys.
	firstBytes, firstKeys = 1 << 20, 250_000
)

// Filter is a set of keys with false positives and without false negatives. With more keys than it was sized for,
// false positives become more frequent.
type Filter struct {
	// parts are the part for the first keys and the part for all others, which is allocated at once, so that memory
	// stays constant with millions of keys.
	parts []part
	// room is how many more keys the first part takes; left is the size of the second part in bytes, 0 once allocated.
	room, left int
}

// part is a filter of a fixed size.
type part []block

type block [blockWords]uint64

// New returns an empty filter. The first 250,000 keys take a megabyte, more keys take mostBytes in addition. The
// false positive rate is about 1/200 at 12 bits per key, 1/1000 at 16 bits, and one in several thousand at 24 bits.
func New(mostBytes int) *Filter { return &Filter{left: mostBytes} }

// Add adds a key.
func (f *Filter) Add(k Key) {
	if f.room == 0 {
		f.grow()
	}
	f.room = max(f.room-1, 0)
	b, low := f.parts[len(f.parts)-1].of(k)
	for range probes {
		b[low>>6%blockWords] |= 1 << (low % 64)
		low >>= probeBits
	}
}

// grow adds the next part, if any.
func (f *Filter) grow() {
	switch {
	case len(f.parts) == 0:
		f.parts, f.room = append(f.parts, make(part, firstBytes/blockBytes)), firstKeys
	case f.left >= blockBytes:
		f.parts, f.left = append(f.parts, make(part, f.left/blockBytes)), 0
	}
}

// MayHave reports whether a key was added, with rare false positives.
func (f *Filter) MayHave(k Key) bool {
	for _, p := range f.parts {
		if p.has(k) {
			return true
		}
	}
	return false
}

func (p part) has(k Key) bool {
	b, low := p.of(k)
	for range probes {
		if b[low>>6%blockWords]&(1<<(low%64)) == 0 {
			return false
		}
		low >>= probeBits
	}
	return true
}

// of returns the block of a key, and the bits that select the key's positions in it.
func (p part) of(k Key) (*block, uint64) {
	at, _ := bits.Mul64(binary.BigEndian.Uint64(k[:8]), uint64(len(p)))
	return &p[at], binary.BigEndian.Uint64(k[8:])
}
