// Package normalise brings names (ids of transactions, keys of subjects) into a normal form, so that spellings that
// people consider the same name are equal: in records, requests, lookups and searches.
package normalise

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// The steps of a rule.
const (
	// NFC composes letters and their marks (Unicode normalisation form C).
	NFC = "nfc"
	// Casefold ignores case.
	Casefold = "casefold"
	// Trim removes white space at both ends.
	Trim = "trim"
	// Digits converts decimal digits of all scripts, including full-width ones, to 0 to 9.
	Digits = "digits"
)

// Steps returns all steps in the order of their application.
func Steps() []string { return []string{NFC, Casefold, Trim, Digits} }

// Rule is the list of steps that a deployment applies; their order in the list does not matter. The zero value
// leaves names unchanged.
type Rule []string

// Name returns the normal form of a name. It is idempotent.
func (r Rule) Name(name string) string {
	if len(r) == 0 || r.isPlain(name) {
		return name
	}
	if r.has(Trim) {
		name = strings.TrimSpace(name)
	}
	return r.within(name)
}

// Key returns the key of a record with each name in normal form; the two names of a payment are joined by '>'.
func (r Rule) Key(key []byte) []byte {
	if len(r) == 0 || len(key) == 0 || r.isPlain(string(key)) && bytes.IndexByte(key, ' ') < 0 {
		return key
	}
	names := strings.Split(string(key), ">")
	for i, name := range names {
		names[i] = r.Name(name)
	}
	return []byte(strings.Join(names, ">"))
}

// Names returns the names in normal form, in their order; if none changes, it returns the same
// list.
func (r Rule) Names(names []string) []string {
	if !slices.ContainsFunc(names, func(name string) bool { return r.Name(name) != name }) {
		return names
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = r.Name(name)
	}
	return out
}

// Decomposed returns a name in form D if that differs and the rule treats it as the same name, otherwise "".
func (r Rule) Decomposed(name string) string {
	if spelled := norm.NFD.String(name); r.has(NFC) && spelled != name {
		return spelled
	}
	return ""
}

// Folded returns a form that similar names share: NFKC and every step. Equal forms mean that a name may be another
// spelling of the other, not that it is.
func Folded(name string) string {
	return Rule(Steps()).Name(norm.NFKC.String(Rule(Steps()).Name(name)))
}

// Varies reports whether a name in normal form may have other spellings, with different bytes.
func (r Rule) Varies(name string) bool {
	// NFC, which case folding includes, produces three ASCII characters from others.
	composed := func(c rune) bool { return c >= utf8.RuneSelf || strings.ContainsRune("K;`", c) }
	return r.has(Trim) || (r.has(NFC) || r.has(Casefold)) && strings.ContainsFunc(name, composed) ||
		r.has(Casefold) && strings.ContainsFunc(name, unicode.IsLetter) ||
		r.has(Digits) && strings.ContainsFunc(name, unicode.IsDigit)
}

// within applies all steps except Trim.
func (r Rule) within(text string) string {
	if r.has(Casefold) {
		// Case folding is defined on form D, and its result is not normalised.
		text = norm.NFD.String(strings.Map(cherokee, cases.Fold().String(norm.NFD.String(text))))
		if !r.has(NFC) {
			text = norm.NFC.String(text)
		}
	}
	if r.has(NFC) {
		text = norm.NFC.String(text)
	}
	if r.has(Digits) {
		text = strings.Map(digit, text)
	}
	return text
}

func (r Rule) has(step string) bool { return slices.Contains(r, step) }

// isPlain quickly recognises the common case: ASCII that no step changes.
func (r Rule) isPlain(name string) bool {
	lower := r.has(Casefold)
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf || lower && 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return !r.has(Trim) || len(name) == 0 || name[0] > ' ' && name[len(name)-1] > ' '
}

// cherokee returns the capital of a Cherokee letter: Unicode folds those to capitals, package cases to lower case
// or capitals.
func cherokee(c rune) rune {
	switch {
	case 0xab70 <= c && c <= 0xabbf:
		return c - 0xab70 + 0x13a0
	case 0x13f8 <= c && c <= 0x13fd:
		return c - 0x13f8 + 0x13f0
	default:
		return c
	}
}

// digit returns the ASCII digit of a decimal digit. Unicode groups the digits of a script in tens.
func digit(c rune) rune {
	const base = 10
	if c < utf8.RuneSelf || !unicode.IsDigit(c) {
		return c
	}
	for _, of := range unicode.Nd.R16 {
		if rune(of.Lo) <= c && c <= rune(of.Hi) {
			return '0' + (c-rune(of.Lo))%base
		}
	}
	for _, of := range unicode.Nd.R32 {
		if rune(of.Lo) <= c && c <= rune(of.Hi) {
			return '0' + (c-rune(of.Lo))%base
		}
	}
	return c
}
