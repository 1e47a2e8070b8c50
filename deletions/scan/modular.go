package scan

import (
	"encoding/binary"
	"math/bits"

	"lethe"
)

// The rolling hash of a window b[0..L) is
//
//	b[0]·B^(L-1) + b[1]·B^(L-2) + ... + b[L-1]   modulo p = 2^61 - 1
//
// for a base B drawn from the secret. Two different windows of L bytes agree
// for at most L-1 of the bases (a polynomial of degree L-1 has no more roots in
// a field), so by chance with a probability below L/2^60, whatever the data.
// Karp and Rabin, "Efficient randomized pattern-matching algorithms", IBM
// Journal of Research and Development 31(2), 1987.
const prime = 1<<61 - 1

// mulmod returns a·b modulo the prime for factors below it.
func mulmod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return addmod(lo&prime, lo>>61|hi<<3)
}

// addmod returns a+b modulo the prime for terms of at most the prime.
func addmod(a, b uint64) uint64 {
	sum := a + b
	if sum >= prime {
		sum -= prime
	}
	return sum
}

func powmod(base uint64, exponent int) uint64 {
	result := uint64(1)
	for ; exponent > 0; exponent >>= 1 {
		if exponent&1 == 1 {
			result = mulmod(result, base)
		}
		base = mulmod(base, base)
	}
	return result
}

// blockBytes are hashed together: their products are summed before the reduction.
const blockBytes = 8

// rollingBase is B^0 to B^blockBytes.
type rollingBase [blockBytes + 1]uint64

func rollingBaseOf(base uint64) (b rollingBase) {
	b[0] = 1
	for k := 1; k < len(b); k++ {
		b[k] = mulmod(b[k-1], base)
	}
	return b
}

func (b *rollingBase) hash(window []byte) uint64 { return b.after(0, window) }

// after continues the hash h.
func (b *rollingBase) after(h uint64, more []byte) uint64 {
	for ; len(more) >= blockBytes; more = more[blockBytes:] {
		h = addmod(mulmod(h, b[blockBytes]), b.block((*[blockBytes]byte)(more)))
	}
	for _, c := range more {
		h = addmod(mulmod(h, b[1]), uint64(c))
	}
	return h
}

// block hashes a block; the sum is below 2^72.
func (b *rollingBase) block(block *[blockBytes]byte) uint64 {
	var hi, lo, carry uint64
	for k, c := range block {
		high, low := bits.Mul64(b[blockBytes-1-k], uint64(c))
		lo, carry = bits.Add64(lo, low, 0)
		hi += high + carry
	}
	return addmod(lo&prime, lo>>61|hi<<3)
}

// prefixHashes appends the hashes of the prefixes of whole blocks, from which a window's takes a few
// multiplications.
func (b *rollingBase) prefixHashes(dst []uint64, buf []byte) []uint64 {
	var h uint64
	dst = append(dst, h)
	for ; len(buf) >= blockBytes; buf = buf[blockBytes:] {
		h = addmod(mulmod(h, b[blockBytes]), b.block((*[blockBytes]byte)(buf)))
		dst = append(dst, h)
	}
	return dst
}

// windowHash is the hash of buf[from:to], with B^(to-from) as power.
func (b *rollingBase) windowHash(prefixes []uint64, buf []byte, from, to int, power uint64) uint64 {
	through := func(n int) uint64 { return b.after(prefixes[n/blockBytes], buf[n/blockBytes*blockBytes:n]) }
	return addmod(through(to), prime-mulmod(through(from), power))
}

// hashKeys are drawn from the secret.
type hashKeys struct {
	// base of the rolling hash, in [256, prime).
	base rollingBase
	// multiplier of the anchor hash, odd.
	multiplier uint64
}

func hashKeysOf(secret lethe.Secret) hashKeys {
	d := secret.Ledger().Hash("fingerprint-base")
	return hashKeys{
		base:       rollingBaseOf(256 + binary.LittleEndian.Uint64(d[:8])%(prime-256)),
		multiplier: binary.LittleEndian.Uint64(d[8:16]) | 1,
	}
}

// anchorBytes is the length of the part of a needle that is looked for first: that of the shortest needle, so that
// one look per place serves all needles.
const anchorBytes = 6

// anchorHash multiplies the first six of window's eight bytes by an odd number modulo 2^64; the upper bits select a
// place in the filter (multiply-shift hashing: Dietzfelbinger et al., Journal of Algorithms 25, 1997). Different
// anchors never agree.
func anchorHash(multiplier uint64, window []byte) uint64 {
	return binary.LittleEndian.Uint64(window) << 16 * multiplier
}

// stride is the number of consecutive anchors of a long needle: wherever it begins, one of them is at a multiple of
// stride, so that the other places can be skipped.
const stride = 4

// stridedBytes is the shortest needle with that many.
const stridedBytes = anchorBytes + stride - 1

// anchorAt returns the place of the first anchor: the bytes with the most different values, the last such place.
// Feature rows may begin with zeros, and ids differ at their ends.
func anchorAt(needle []byte) int {
	width := anchorBytes
	if len(needle) >= stridedBytes {
		width = stridedBytes
	}
	best, at := 0, 0
	for i := 0; i+width <= len(needle); i++ {
		if n := distinct(needle[i : i+width]); n >= best {
			best, at = n, i
		}
	}
	return at
}

func distinct(window []byte) int {
	n := 0
	for i, c := range window {
		seen := false
		for _, d := range window[:i] {
			seen = seen || c == d
		}
		if !seen {
			n++
		}
	}
	return n
}

func anchorOf(multiplier uint64, needle []byte, at int) uint64 {
	var window [8]byte
	copy(window[:], needle[at:at+anchorBytes])
	return anchorHash(multiplier, window[:])
}
