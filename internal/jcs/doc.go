// Package jcs writes JSON in the canonical form of RFC 8785: one value, one sequence
// of bytes, which programs in other languages get as well from the same value.
//
//	jcs.go      the order of members, and what has no canonical form
//	strings.go  strings, escaped as little as may be
//	numbers.go  numbers as ECMAScript writes them
package jcs
