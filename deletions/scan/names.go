package scan

import (
	"bytes"
	_ "embed"
	"slices"
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

// A name is a valid id: ids that differ in any character are different.

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
		text = Unescape(raw)
	}
	return isSubject && isSubjectName(text) || !isSubject && isIDName(text)
}

// An id may be a word that lethe, Pebble or the broker write, such as "illicit". Its bytes are everywhere and prove
// nothing, so it is searched in id fields and as a key only; its pseudonym, next to it in every store, is no word.

// wordBytes is the shortest word, quotedIDBytes the shortest id searched in quotes.
const wordBytes, quotedIDBytes = 3, 4

// words are in Pebble's and brokers' files, ownWords in texts that lethe may write (made by a test), one a line.
var (
	//go:embed words.txt
	words string
	//go:embed ownwords.txt
	ownWords string
)

func isListed(word string) bool {
	word = "\n" + strings.ToLower(word) + "\n"
	return strings.Contains(words, word) || strings.Contains(ownWords, word)
}

// isWord reports whether all parts of an id are words.
func isWord(id string) bool {
	if len(id) < wordBytes {
		return false
	}
	parts := strings.FieldsFunc(id, func(r rune) bool { return r > 127 || !joins(byte(r)) })
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !isListed(part) })
}

// field classifies a string by its field's name.
type field int

const (
	anyField field = iota
	idField
	// plainField holds no id.
	plainField
)

func fieldOf(name string) field {
	switch name {
	case "id", "source", "target", "transaction", "nodes":
		return idField
	case "type", "label", "timestep", "features", "scope", "nonce", "requested_at":
		return plainField
	default:
		return anyField
	}
}

// mayHold reports whether a string that could be an id is one there.
func (f field) mayHold(id string) bool {
	if isWord(id) {
		return f == idField
	}
	return f != plainField
}

// NotSearched returns the kinds that a word is not searched as, ascending.
func NotSearched(id lethe.TransactionID) []Kind {
	switch {
	case !isWord(string(id)):
		return nil
	case len(id) >= BoundedIDBytes:
		return []Kind{KindID}
	case len(id) < quotedIDBytes:
		return []Kind{KindIDFramed}
	default:
		return []Kind{KindIDFramed, KindIDQuoted}
	}
}
