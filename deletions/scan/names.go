package scan

import (
	"bytes"
	"strings"

	"lethe"
)

// isPart reports whether what stands at from to to is but a part of a name in a text that has such a length and the '>'
// of a payment's key at a place, or -1.
func isPart(length, joint, from, to int) bool {
	begin, end := 0, length
	switch {
	case joint >= to:
		end = joint
	case joint < from:
		begin = joint + 1
	}
	return begin < from || to < end
}

// MatchKey looks for ids in the key of a record whose key is a transaction id
// or a payment's two ids joined by '>'. Unlike ScanBytes it also knows ids of
// fewer than 6 bytes, because such a key delimits them.
func (sc *Scanner) MatchKey(key []byte) []Hit {
	var list hitList
	start, named := keyStart(key)
	joint := bytes.IndexByte(key[start:], '>')
	list.note(sc.scanBytes(key, func(h Hit) bool {
		from := int(h.Offset) - start
		to := from + sc.fingerprints[h.Fingerprint].Length
		return !ofName(h.Kind) || !named || from < 0 || bounded(h.Kind) && !isPart(len(key)-start, joint, from, to)
	})...)
	list.note(sc.matching(KindPaymentKey, sc.payments[len(key)], key, 0)...)
	if len(sc.keyed) == 0 {
		return list.hits
	}
	offset := 0
	for part := range bytes.SplitSeq(key, []byte{'>'}) {
		list.note(sc.matching(KindIDKey, sc.keyed[len(part)], part, int64(offset))...)
		offset += len(part) + 1
	}
	sortHits(list.hits)
	return list.hits
}

func trimSpace(text []byte) []byte {
	for len(text) > 0 && isBlank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

// isBlank reports whether a character may stand between the tokens of JSON.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// What a name may be is what intake takes for one: an id that differs from an erased one by any character is another
// transaction's id.

// isIDName reports whether a text may be the id of a transaction.
func isIDName(text []byte) bool { return lethe.ValidID(text) }

// isSubjectName reports whether a text may be the key of a subject. Blanks at an end make it a text
// that mentions a name.
func isSubjectName(text []byte) bool {
	return lethe.ValidSubject(text) && text[0] != ' ' && text[len(text)-1] != ' '
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
