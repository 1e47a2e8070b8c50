package scan

import (
	"bytes"
	"strings"

	"lethe"
)

// isPart reports whether from..to is only a part of a name in a text of a length, with the '>' of a payment's key at
// joint, or -1.
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

// MatchKey finds ids in a key that is an id or a payment's two ids, also short ones, which a key delimits.
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

// isBlank reports whether JSON may have c between tokens.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// A name is what intake accepts: an id that differs by any character is another one.

func isIDName(text []byte) bool { return lethe.ValidID(text) }

// isSubjectName reports whether a text may be a subject's key. Blanks at an end make it a text.
func isSubjectName(text []byte) bool {
	return lethe.ValidSubject(text) && text[0] != ' ' && text[len(text)-1] != ' '
}

func isKeyName(text []byte) bool {
	source, target, isPayment := bytes.Cut(text, []byte{'>'})
	return isIDName(source) && (!isPayment || isIDName(target))
}

// keyStart returns the begin of the names in a key: behind ">!topic>" of a dead letter. ok is false if it has no
// names.
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

// fitsName reports whether a JSON string in a field may be a name: an id, or an element of a list of subjects.
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
