// Package plainnumber reads plain decimal numbers as float32: an integer and a fraction of few
// digits, without an exponent. It says of them what strconv.ParseFloat says, in a fraction of
// the time, and leaves all others to it. It also has what all readers of numbers share: where a number of
// JSON ends, and which are integers.
package plainnumber

import "math"

const (
	// bound is one on the digits of a plain number as an integer: float64 has all integers up to
	// 2^53, of 15 digits and more.
	bound = 1e15
	// mostPlaces are those behind the point: float64 has 10^22, and no power of ten behind it.
	mostPlaces = 22
)

// Float32 reads the number at a place of a text, if it is plain: exactly what
// strconv.ParseFloat says of it. It ends before a byte that is no part of a number.
func Float32(text []byte, at int) (v float32, end int, ok bool) {
	negative := is(text, at, '-')
	if negative {
		at++
	}
	end, sum := digits(text, at, 0)
	if end == at || is(text, at, '0') && end > at+1 {
		return 0, 0, false
	}
	places := 0
	if is(text, end, '.') {
		first := end + 1
		end, sum = digits(text, first, sum)
		if places = end - first; places == 0 || places > mostPlaces {
			return 0, 0, false
		}
	}
	if sum >= bound || is(text, end, 'e') || is(text, end, 'E') {
		return 0, 0, false
	}
	v, ok = rounded(float64(sum) / math.Pow10(places))
	if negative {
		v = -v
	}
	return v, end, ok
}

func is(text []byte, at int, c byte) bool { return at < len(text) && text[at] == c }

// digits returns where the digits end that stand at a place, and appends them to those of a
// number, which stays at the bound once it is there.
func digits(text []byte, at int, sum uint64) (end int, all uint64) {
	for ; at < len(text); at++ {
		c := text[at] - '0'
		if c > 9 { //nolint:mnd // the last digit
			break
		}
		sum = min(10*sum+uint64(c), bound)
	}
	return at, sum
}

// rounded returns the float32 next to a number of which x is the next float64, if that can be
// told from x: not if x is in the middle between two, for the number itself may be on either
// side, nor if it is so small that float32 has fewer digits.
func rounded(x float64) (float32, bool) {
	const (
		dropped = 1<<29 - 1 // the digits that float64 has more
		middle  = 1 << 28
		normal  = 0x1p-126
	)
	return float32(x), (x >= normal || x == 0) && math.Float64bits(x)&dropped != middle
}
