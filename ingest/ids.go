package ingest

import (
	"strings"
	"unicode/utf8"
)

const (
	maxRequestIDBytes = 128
	maxReasonChars    = 1024
	nonceDigits       = 32
)

// ValidRequestID reports whether the text may be a request id: 1 to 128 of the characters
// A-Z, a-z, 0-9, '.', '_' and '-'. Unlike a transaction id it is not personal data and
// may appear in logs, paths and URLs; a leading '.' is rejected because request ids are
// used in paths.
func ValidRequestID(id string) bool {
	if id == "" || len(id) > maxRequestIDBytes || id[0] == '.' {
		return false
	}
	const taken = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return !strings.ContainsFunc(id, func(r rune) bool {
		return !strings.ContainsRune(taken, r)
	})
}

// reasonChars returns the length of a reason as JSON Schema counts it.
func reasonChars(reason string) int { return utf8.RuneCountInString(reason) }

// validNonce reports whether the text may be the nonce of a request: 32 lower-case
// hexadecimal digits.
func validNonce(nonce string) bool {
	return len(nonce) == nonceDigits && !strings.ContainsFunc(nonce, func(r rune) bool {
		return !strings.ContainsRune("0123456789abcdef", r)
	})
}
