package lethe

import (
	"strings"
	"unicode/utf8"
)

// MaxNameBytes bounds ids of transactions and keys of subjects.
const MaxNameBytes = 256

// Invisible lists the characters that names must not contain, as pairs of the first and the last of a range:
// controls, white space other than the space, joiners, direction marks, and noncharacters. Otherwise names that
// look the same could differ by them.
const Invisible = "\x00\x1f" + "\x7f\u00a0" + "\u00ad\u00ad" + "\u061c\u061c" + "\u1680\u1680" + "\u180e\u180e" +
	"\u2000\u200f" + "\u2028\u202f" + "\u205f\u206f" + "\u3000\u3000" + "\ufeff\ufeff" + "\ufff9\ufffb" + "\ufffe\uffff"

// The required form of transaction ids and subject keys, in words for the sender of an invalid one.
const (
	IDForm      = "1 to 256 bytes of printable text, without spaces and '>', that do not begin with '!'"
	SubjectForm = "1 to 256 bytes of printable text"
)

// ValidID reports whether the text may be a transaction id: 1 to MaxNameBytes bytes of visible characters. It must
// not contain '>', which joins the two ids in a payment's key, nor start with '!', which starts the key of a
// control record: two different records could then share a key, and a compacted topic retains one record per key.
func ValidID[T string | []byte](id T) bool {
	if len(id) == 0 || len(id) > MaxNameBytes || id[0] == '!' {
		return false
	}
	for i := range len(id) {
		if c := id[i]; c == ' ' || c == '>' {
			return false
		}
	}
	return ValidSubject(id)
}

// ValidSubject reports whether the text may be a subject's key: 1 to MaxNameBytes bytes of visible characters.
// Unlike an id it may contain spaces, as addresses do.
func ValidSubject[T string | []byte](subject T) bool {
	if len(subject) == 0 || len(subject) > MaxNameBytes {
		return false
	}
	for i := range len(subject) {
		switch c := subject[i]; {
		case c < ' ', c == '\x7f':
			return false
		case c >= utf8.RuneSelf:
			return visible(string(subject))
		}
	}
	return true
}

// visible is ValidSubject for text that is not pure ASCII. Characters of later Unicode versions count as visible: a
// valid name stays valid, and the published schemas, which list the same characters, stay correct.
func visible(name string) bool {
	if !utf8.ValidString(name) {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		for pairs := Invisible; pairs != ""; {
			first, n := utf8.DecodeRuneInString(pairs)
			last, m := utf8.DecodeRuneInString(pairs[n:])
			if first <= c && c <= last {
				return true
			}
			pairs = pairs[n+m:]
		}
		return false
	})
}
