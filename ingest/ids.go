package ingest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxIDBytes        = 256
	maxRequestIDBytes = 128
	maxReasonBytes    = 1024
	nonceDigits       = 32
)

// What ids of transactions and keys of subjects must be, in words for who sent others.
const (
	IDForm      = "1 to 256 bytes of printable text, without spaces and '>', that does not begin with '!'"
	SubjectForm = "1 to 256 bytes of printable text"
)

// ValidID reports whether the text may be a transaction id: 1 to 256 bytes of
// printable UTF-8 without white space. It must not hold '>', which joins the
// two ids in a payment's key, nor start with '!', which starts the key of a
// control record: either would let two different records share a key, and a
// compacted topic keeps one record per key.
func ValidID(id string) bool {
	if id == "" || len(id) > maxIDBytes || id[0] == '!' || !utf8.ValidString(id) {
		return false
	}
	for _, r := range id {
		if r == '>' || r == ' ' || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// ValidSubject reports whether the text may be the key of a subject: 1 to MaxSubjectBytes
// bytes of printable UTF-8. Unlike an id it may hold spaces, as addresses do.
func ValidSubject(subject string) bool {
	if subject == "" || len(subject) > MaxSubjectBytes || !utf8.ValidString(subject) {
		return false
	}
	return !strings.ContainsFunc(subject, func(r rune) bool { return !unicode.IsPrint(r) })
}

// ValidRequestID reports whether the text may be a request id: 1 to 128 of
// the characters A-Z, a-z, 0-9, '.', '_' and '-'. Unlike a transaction id it
// is no personal data and may appear in logs, paths and URLs; a leading '.' is
// refused for the sake of paths.
func ValidRequestID(id string) bool {
	if id == "" || len(id) > maxRequestIDBytes || id[0] == '.' {
		return false
	}
	const taken = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return !strings.ContainsFunc(id, func(r rune) bool {
		return !strings.ContainsRune(taken, r)
	})
}

// validNonce reports whether the text may be the nonce of a request: 32 lower-case
// hexadecimal digits.
func validNonce(nonce string) bool {
	return len(nonce) == nonceDigits && !strings.ContainsFunc(nonce, func(r rune) bool {
		return !strings.ContainsRune("0123456789abcdef", r)
	})
}
