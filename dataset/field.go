package dataset

import (
	"strconv"
	"unicode/utf8"

	"lethe"
	"lethe/internal/plainnumber"
)

// checkID returns why a field cannot be an id, or "".
func checkID(field []byte) string {
	switch {
	case len(field) == 0:
		return "the id is empty"
	case !utf8.Valid(field):
		return "the id is not UTF-8"
	case !lethe.ValidID(field):
		return "the id is not " + lethe.IDForm
	}
	return ""
}

// isNumber reports whether a field is a number in JSON's syntax. Intake accepts no other, so that a stream
// of files has the same meaning as its records.
func isNumber(field []byte) bool {
	end, malformed := plainnumber.End(field, 0)
	return malformed == "" && end == len(field)
}

// parseTimestep parses "7" or "7.0", which published versions of Elliptic use.
func parseTimestep(field []byte) (lethe.Timestep, bool) {
	if !isNumber(field) {
		return 0, false
	}
	v, ok := plainnumber.Integer(field, lethe.MaxTimestep)
	return lethe.Timestep(v), ok
}

// parseFeature parses a finite float32, or an empty field as a missing one. The text is rounded
// once, so the 32-bit output of strconv is read back bit for bit.
func parseFeature(field []byte) (float32, string) {
	if len(field) == 0 {
		return lethe.Missing(), ""
	}
	if v, end, ok := plainnumber.Float32(field, 0); ok && end == len(field) {
		return v, ""
	}
	if !isNumber(field) {
		return 0, "the value is not a number as JSON writes it, such as -0.5 or 1e-3 (a missing one is empty)"
	}
	v, err := strconv.ParseFloat(string(field), 32)
	if err != nil {
		return 0, "the value is beyond float32"
	}
	return float32(v), ""
}
