// Package jcs writes JSON in the canonical form of RFC 8785: one value, one sequence
// of bytes, which programs in other languages get as well from the same value.
package jcs
