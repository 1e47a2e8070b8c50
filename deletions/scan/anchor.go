package scan

import "encoding/binary"

// anchorBytes is the length of the part of a needle that the scanner looks for
// first. It is the shortest needle's length, so that one look at each place of
// the data serves needles of every length.
const anchorBytes = 6

// anchorHash multiplies the six bytes by an odd number modulo 2^64; its upper
// bits choose a place in the scanner's filter (multiply-shift hashing:
// Dietzfelbinger, Hagerup, Katajainen and Penttonen, "A reliable randomized
// algorithm for the closest-pair problem", Journal of Algorithms 25, 1997).
// The multiplication is one-to-one, so different anchors never agree.
//
// window must hold eight bytes, of which the first six count.
func anchorHash(multiplier uint64, window []byte) uint64 {
	return binary.LittleEndian.Uint64(window) << 16 * multiplier
}

// stride is how many anchors in a row a needle has that is long enough for it:
// whatever place of the data it begins at, one of them begins at a multiple of the
// stride, so that a search need not look at the places in between.
const stride = 4

// stridedBytes is the least needle with so many anchors.
const stridedBytes = anchorBytes + stride - 1

// anchorAt chooses where in the needle the first anchor is: the bytes with the
// most different values, the last such place. A feature row may begin with
// zeros, which are everywhere, and ids tend to differ at their ends.
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

// anchorOf hashes the anchor of a needle at its place.
func anchorOf(multiplier uint64, needle []byte, at int) uint64 {
	var window [8]byte
	copy(window[:], needle[at:at+anchorBytes])
	return anchorHash(multiplier, window[:])
}
