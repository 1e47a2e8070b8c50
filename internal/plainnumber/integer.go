package plainnumber

import (
	"bytes"
	"strconv"
)

// End returns the end of the number at a position of a text in the syntax of JSON (RFC 8259), and which part of it
// is malformed, or "".
func End(text []byte, at int) (end int, malformed string) {
	if is(text, at, '-') {
		at++
	}
	end, _ = digits(text, at, 0)
	if end == at || is(text, at, '0') && end > at+1 {
		return end, "number"
	}
	if is(text, end, '.') {
		first := end + 1
		if end, _ = digits(text, first, 0); end == first {
			return end, "fraction"
		}
	}
	if is(text, end, 'e') || is(text, end, 'E') {
		first := end + 1
		if is(text, first, '+') || is(text, first, '-') {
			first++
		}
		if end, _ = digits(text, first, 0); end == first {
			return end, "exponent"
		}
	}
	return end, ""
}

// Integer returns the value of a JSON number that is an integer from 0 to most, in any notation: 5, 5.0 and 50e-1
// are the same number, as in JSON Schema. The number must be one that End accepts.
func Integer(number []byte, most uint64) (value uint64, ok bool) {
	mantissa, power := number, 0
	if at := bytes.IndexAny(number, "eE"); at >= 0 {
		mantissa, power = number[:at], exponent(number[at+1:])
	}
	negative := is(mantissa, 0, '-')
	if negative {
		mantissa = mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	all := append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	power -= len(fraction)
	all = bytes.TrimLeft(all, "0")
	trimmed := bytes.TrimRight(all, "0")
	power += len(all) - len(trimmed)
	switch {
	case len(trimmed) == 0:
		return 0, true
	case negative, power < 0, len(trimmed)+power > mostDigits:
		return 0, false
	}
	value, err := strconv.ParseUint(string(append(trimmed, bytes.Repeat([]byte{'0'}, power)...)), 10, 64)
	return value, err == nil && value <= most
}

// mostDigits is one less than the digits of the largest uint64.
const mostDigits = 19

// exponent parses an exponent, clamped to ±10^9: for a mantissa of less than a million digits, anything beyond
// gives 0 or overflows.
func exponent(text []byte) int {
	const far = 1_000_000_000
	v, err := strconv.Atoi(string(text))
	switch {
	case text[0] == '-' && (err != nil || v < -far):
		return -far
	case err != nil || v > far:
		return far
	}
	return v
}
