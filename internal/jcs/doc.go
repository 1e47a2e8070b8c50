// Package jcs writes JSON in the canonical form of RFC 8785: equal values give equal bytes, also
// in other languages.
package jcs
