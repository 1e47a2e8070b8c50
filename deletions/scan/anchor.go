package scan

import "encoding/binary"

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
