package scan

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a name may be, as intake has it (ingest.ValidID, ingest.ValidSubject): an id that differs
// from an erased one by any printable character is another transaction's id.

// mostNameBytes is the length of the longest name.
const mostNameBytes = 256

// isIDName reports whether a text may be the id of a transaction.
func isIDName(text []byte) bool {
	return isSubjectName(text) && text[0] != '!' && bytes.IndexByte(text, ' ') < 0 && bytes.IndexByte(text, '>') < 0
}

// isSubjectName reports whether a text may be the key of a subject. Blanks at an end make it a text
// that mentions a name.
func isSubjectName(text []byte) bool {
	if len(text) == 0 || len(text) > mostNameBytes || !utf8.Valid(text) {
		return false
	}
	if text[0] == ' ' || text[len(text)-1] == ' ' {
		return false
	}
	return bytes.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// isKeyName reports whether a text may be the key of a transaction or of a payment.
func isKeyName(text []byte) bool {
	source, target, isPayment := bytes.Cut(text, []byte{'>'})
	return isIDName(source) && (!isPayment || isIDName(target))
}

// keyStart returns where the names of a record's key begin: behind the prefix ">!topic>" of a dead
// letter, if the key has one. ok is false if the key holds something else than names.
func keyStart(key []byte) (start int, ok bool) {
	if rest, isLetter := bytes.CutPrefix(key, []byte(">!")); isLetter {
		at := bytes.IndexByte(rest, '>')
		if at < 0 {
			return 0, false
		}
		start = len(key) - len(rest) + at + 1
	}
	return start, isKeyName(key[start:])
}

// fitsName reports whether a string of JSON in a field, without its quotes, may be a name there: an id, or
// an element of a list of subjects.
func fitsName(field string, raw []byte) bool {
	isSubject := strings.EqualFold(field, "subjects")
	if !isSubject && fieldOf(field) != idField {
		return false
	}
	text := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		text = unescape(raw)
	}
	return isSubject && isSubjectName(text) || !isSubject && isIDName(text)
}
