// Package keyfilter tells of most keys that were not added that they were not, without keeping any: a Bloom filter
// whose bits of a key lie in one line of the processor's cache (F. Putze, P. Sanders, J. Singler, Cache-, Hash- and
// Space-Efficient Bloom Filters, 2007), in parts that grow as keys are added.
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
	// firstBytes are those of the first part, and each is growth times as large as the one before.
	firstBytes, growth = 256 << 10, 4
)

// Filter is a set of keys that may say of others, too, that it has them. Of more keys than it has memory for it is
// right as well, and of more and more others it is not.
type Filter struct {
	parts []part
	// room is for how many keys there is room in the last part, next and left are the bytes of the part to come and of
	// all that may, and bits is the room for a key.
	room, next, left, bits int
}

// part is a filter of a fixed size.
type part []block

type block [blockWords]uint64

// New returns a filter without keys that takes so many bytes at most, but for the first part, which comes with the
// first key. Of 12 bits for a key, one in some two hundred keys that were not added is taken for one that was; of 24,
// one in some thousands.
func New(mostBytes, bitsOfKey int) *Filter {
	return &Filter{next: firstBytes, left: mostBytes, bits: bitsOfKey}
}

// Add adds a key.
func (f *Filter) Add(k Key) {
	if f.room == 0 && (len(f.parts) == 0 || f.next <= f.left) {
		f.parts = append(f.parts, make(part, f.next/blockBytes))
		f.room = f.next * 8 / f.bits
		f.left -= f.next
		f.next *= growth
	}
	f.room = max(f.room-1, 0)
	b, low := f.parts[len(f.parts)-1].of(k)
	for range probes {
		b[low>>6%blockWords] |= 1 << (low % 64)
		low >>= probeBits
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
