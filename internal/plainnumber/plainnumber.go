// Package plainnumber reads plain decimal numbers as float32: an integer and a fraction of few
// digits, without an exponent. It says of them what strconv.ParseFloat says, in a fraction of
// the time, and leaves all others to it.
package plainnumber

import "math"

// bound is a bound on the digits of a plain number as an integer: float64 has all integers
// up to 2^53, of 15 digits and more.
const bound = 1e15

// powers are those of ten that float64 has.
var powers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
	1e21, 1e22,
}

// Float32 reads the number at a place of a text, if it is plain: exactly what
// strconv.ParseFloat says of it. It ends before a byte that is no part of a number.
func Float32(text []byte, at int) (v float32, end int, ok bool) {
	negative := at < len(text) && text[at] == '-'
	if negative {
		at++
	}
	first := at
	var digits uint64
	for ; at < len(text) && '0' <= text[at] && text[at] <= '9'; at++ {
		if digits = 10*digits + uint64(text[at]-'0'); digits >= bound {
			return 0, 0, false
		}
	}
	if at == first || text[first] == '0' && at > first+1 {
		return 0, 0, false
	}
	places := 0
	if at < len(text) && text[at] == '.' {
		at++
		first = at
		for ; at < len(text) && '0' <= text[at] && text[at] <= '9'; at++ {
			if digits = 10*digits + uint64(text[at]-'0'); digits >= bound {
				return 0, 0, false
			}
		}
		if places = at - first; places == 0 || places >= len(powers) {
			return 0, 0, false
		}
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		return 0, 0, false
	}
	v, ok = rounded(float64(digits) / powers[places])
	if negative {
		v = -v
	}
	return v, at, ok
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
