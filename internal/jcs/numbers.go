package jcs

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// exactInteger is the first whole number from which on a float64 does not hold every one.
const exactInteger = 1 << 53

// appendNumber appends a number as ECMAScript writes the float64 it stands for (RFC 8785,
// section 3.2.2.3).
func (f form) appendNumber(out, text []byte) ([]byte, error) {
	integer := !bytes.ContainsAny(text, ".eE")
	if integer && f.exact {
		return append(out, text...), nil
	}
	if i, err := strconv.ParseInt(string(text), 10, 64); err == nil && i > -exactInteger && i < exactInteger {
		return strconv.AppendInt(out, i, 10), nil
	}
	number, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return nil, fmt.Errorf("%w: a number out of range", ErrNoForm)
	}
	from := len(out)
	out = appendFloat(out, number)
	if integer && !bytes.Equal(out[from:], text) && !holds(number, text) {
		return nil, fmt.Errorf("%w: an integer beyond 2^53 that a float64 does not hold", ErrNoForm)
	}
	return out, nil
}

// holds reports whether the number is the integer of the text exactly.
func holds(number float64, text []byte) bool {
	want, valid := new(big.Int).SetString(string(text), 10)
	got, _ := big.NewFloat(number).Int(nil)
	return valid && got.Cmp(want) == 0
}

// appendFloat appends the shortest digits that stand for the number: as they are from
// 1e-6 to below 1e21, and with an exponent beyond.
func appendFloat(out []byte, f float64) []byte {
	size := math.Abs(f)
	switch {
	case size == 0:
		return append(out, '0')
	case size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	from := len(out)
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	// Exponents of one digit have no zero before it.
	if n := len(out); n-from >= 4 && out[n-4] == 'e' && out[n-2] == '0' {
		out[n-2] = out[n-1]
		out = out[:n-1]
	}
	return out
}
