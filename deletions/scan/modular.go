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

// rollingOf hashes one window from scratch.
func rollingOf(base uint64, window []byte) uint64 {
	var h uint64
	for _, c := range window {
		h = addmod(mulmod(h, base), uint64(c))
	}
	return h
}

// prefixHashes appends to dst the hash of every prefix of the buffer, from the
// empty one on, so that the hash of any window takes one multiplication.
func prefixHashes(dst []uint64, base uint64, buf []byte) []uint64 {
	var h uint64
	dst = append(dst, h)
	for _, c := range buf {
		h = addmod(mulmod(h, base), uint64(c))
		dst = append(dst, h)
	}
	return dst
}

// windowHash is the hash of buf[from:to], given the hashes of the buffer's
// prefixes and base^(to-from).
func windowHash(prefixes []uint64, from, to int, power uint64) uint64 {
	return addmod(prefixes[to], prime-mulmod(prefixes[from], power))
}

// hashKeys are what the two hashes of a scan draw from the secret.
type hashKeys struct {
	// base of the rolling hash, in [256, prime).
	base uint64
	// multiplier of the anchor hash, odd.
	multiplier uint64
}

func hashKeysOf(secret lethe.Secret) hashKeys {
	d := secret.Hash("fingerprint-base")
	return hashKeys{
		base:       256 + binary.LittleEndian.Uint64(d[:8])%(prime-256),
		multiplier: binary.LittleEndian.Uint64(d[8:16]) | 1,
	}
}
