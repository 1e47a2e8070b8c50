package dataset

import (
	"math"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"lethe"
)

// maxIDBytes keeps a mistaken file from making ids of whole rows. Elliptic's
// have up to 9 digits; a hash in hexadecimal has 64.
const maxIDBytes = 256

// maxTimestep bounds what is taken for a timestep, exactly held by a float64.
const maxTimestep = 1 << 53

// checkID returns why a field cannot be an id, or "".
func checkID(field []byte) string {
	switch {
	case len(field) == 0:
		return "the id is empty"
	case len(field) > maxIDBytes:
		return "the id is longer than " + strconv.Itoa(maxIDBytes) + " bytes"
	case !utf8.Valid(field):
		return "the id is not UTF-8"
	}
	for _, r := range string(field) {
		if r == ',' || r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) {
			return "the id holds a blank, a comma, a quote or a control character"
		}
	}
	return ""
}

// parseTimestep reads "7" or "7.0", as published versions of Elliptic write it.
func parseTimestep(field []byte) (lethe.Timestep, bool) {
	var whole int64
	for i, c := range field {
		if c < '0' || c > '9' || i > 16 {
			return parseFloatTimestep(field)
		}
		whole = 10*whole + int64(c-'0')
	}
	return lethe.Timestep(whole), len(field) > 0 && whole <= maxTimestep
}

func parseFloatTimestep(field []byte) (lethe.Timestep, bool) {
	v, err := strconv.ParseFloat(string(field), 64)
	if err != nil || v < 0 || v > maxTimestep || v != math.Trunc(v) {
		return 0, false
	}
	return lethe.Timestep(v), true
}

// parseFeature reads a finite float32, or an empty field as a missing one. The text is
// rounded once, so what strconv wrote with 32 bits is read back bit for bit.
func parseFeature(field []byte) (float32, string) {
	if len(field) == 0 {
		return lethe.Missing(), ""
	}
	v, err := strconv.ParseFloat(string(field), 32)
	switch {
	case err != nil && math.IsInf(v, 0):
		return 0, "the value is beyond float32"
	case err != nil:
		return 0, "the value is not a number"
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, "the value is not finite"
	}
	return float32(v), ""
}

// firstInfinite returns the position of the first infinity, or -1.
func firstInfinite(values []float32) int {
	return slices.IndexFunc(values, func(v float32) bool { return math.IsInf(float64(v), 0) })
}
