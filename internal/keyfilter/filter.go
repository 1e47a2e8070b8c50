// Package keyfilter tells of most keys that were not added that they were not, without keeping any: a Bloom filter
// whose bits of a key lie in one line of the processor's cache (F. Putze, P. Sanders, J. Singler, Cache-, Hash- and
// Space-Efficient Bloom Filters, 2007). It is small for the first keys, and of its full size for more.
package keyfilter

import (
	"encoding/binary"
	"math/bits"
)

// Key is what is added and asked for. Keys must be spread evenly, as pseudonyms are: their own bits say where they
// are noted.
type Key = [16]byte

const (
	// probes are the bits that a key sets, probeBits of the key for each.
	probes, probeBits = 7, 9
	// blockWords are those of a block, which has 1<<probeBits bits.
	blockWords = 1 << probeBits / 64
	blockBytes = blockWords * 8
	// The first part has firstBytes, for so many keys.
	firstBytes, firstKeys = 1 << 20, 250_000
)

// Filter is a set of keys that may say of others, too, that it has them. Of more keys than it has memory for it is
// right as well, and of more and more others it is not.
type Filter struct {
	// parts are the one for the first keys and that for all others, which takes its memory at once: of who takes millions
	// of keys, memory stays what it is.
	parts []part
	// room is for how many more keys the first part is, and left are the bytes of the other one, 0 once it is there.
	room, left int
}

// part is a filter of a fixed size.
type part []block

type block [blockWords]uint64

// New returns a filter without keys. The first 250,000 take a megabyte, and more of them so many bytes besides. Of as
// many as have 12 bits each, one in some two hundred keys that were not added is taken for one that was; of 16, one in
// a thousand, of 24, one in some thousands.
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

// grow adds the next part, if there is one.
func (f *Filter) grow() {
	switch {
	case len(f.parts) == 0:
		f.parts, f.room = append(f.parts, make(part, firstBytes/blockBytes)), firstKeys
	case f.left >= blockBytes:
		f.parts, f.left = append(f.parts, make(part, f.left/blockBytes)), 0
	}
}

// MayHave reports whether a key was added, or, rarely, that it was though it was not.
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

// of returns the block of a key, and the bits that say where in it the key is noted.
func (p part) of(k Key) (*block, uint64) {
	at, _ := bits.Mul64(binary.BigEndian.Uint64(k[:8]), uint64(len(p)))
	return &p[at], binary.BigEndian.Uint64(k[8:])
}
