// Package plainnumber parses plain decimal numbers as float32: few digits and no exponent. For these it gives the
// result of strconv.ParseFloat in a fraction of the time; other numbers are left to strconv. It also finds the end
// of a JSON number, and recognises integers.
package plainnumber

import "math"

const (
	// bound limits the digits of a plain number read as an integer: float64 represents all integers
	// up to 2^53, which has more than 15 digits.
	bound = 1e15
	// mostPlaces bounds the decimal places: 10^22 is the largest power of ten that float64
	// represents exactly.
	mostPlaces = 22
)

// Float32 parses the number at a position of a text if it is plain, with exactly the result of
// strconv.ParseFloat. end is the first byte after the number.
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

// digits returns the end of the digits at a position, and appends them to a number, which
// saturates at the bound.
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

// rounded returns the float32 nearest to a number whose nearest float64 is x, if x determines it.
// It does not if x is halfway between two float32 values, because the number may be on either
// side, or if x is so small that float32 has fewer digits.
func rounded(x float64) (float32, bool) {
	const (
		dropped = 1<<29 - 1 // the digits that float64 has beyond float32
		middle  = 1 << 28
		normal  = 0x1p-126
	)
	return float32(x), (x >= normal || x == 0) && math.Float64bits(x)&dropped != middle
}
