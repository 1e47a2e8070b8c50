package scan

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"lethe"
)

// An id may be a part of another one, before or behind a hyphen: order-1 of order-1-b. Where
// the bytes stand in a place that holds a name and nothing else, and the name there is a longer
// one, they are that one's. Everywhere else, as in a text, they count.
//
// Such places are the fields of ids in JSON and its lists of nodes and subjects, keys of Kafka's
// records, the first fields of Protobuf messages, and texts behind their length in 32 bits, as
// stores hold them. A name has the characters of isName here; framing.go has those of any characters. A
// payment's key is two names, and each is looked at.

// mostPlainBytes bounds how far a name of the characters of isName is looked for on either side.
const mostPlainBytes = 160

// partOfName reports whether buf[from:to] is a part of a longer name.
func partOfName(buf []byte, from, to int) bool {
	begin, end := extent(buf, from, to, isName)
	if end-begin > to-from && (inIDField(buf, begin, end) || inList(buf, begin, end)) {
		return true
	}
	begin, end = extent(buf, from, to, inKey)
	for at := begin; at <= from; at++ {
		for _, n := range framed(buf, at) {
			if stop := at + n; to <= stop && stop <= end && isOther(buf[at:stop], from-at, to-at) {
				return true
			}
		}
	}
	return false
}

// extent returns how far the characters reach in which the window stands.
func extent(buf []byte, from, to int, is func(c byte) bool) (begin, end int) {
	begin, end = from, to
	for begin > 0 && from-begin < mostPlainBytes && is(buf[begin-1]) {
		begin--
	}
	for end < len(buf) && end-to < mostPlainBytes && is(buf[end]) {
		end++
	}
	return begin, end
}

// isOther reports whether a name, or a payment's key, names neither what stands at from to to
// in it nor, if that is a payment, is it.
func isOther(text []byte, from, to int) bool {
	return isPart(len(text), bytes.IndexByte(text, '>'), from, to) && namesOnly(text)
}

// namesOnly reports whether a text may be a name, or a payment's key.
func namesOnly(text []byte) bool {
	return bytes.Count(text, []byte{'>'}) <= 1 && !slices.ContainsFunc(text, func(c byte) bool { return !inKey(c) })
}

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

// inIDField reports whether a string of JSON, without its quotes, is the value of a field that
// holds an id.
func inIDField(buf []byte, begin, end int) bool {
	return quoted(buf, begin, end) && endsInName(buf[:begin-1], idFields()...)
}

// inList reports whether a string of JSON is one of a list of ids or of subjects.
func inList(buf []byte, begin, end int) bool {
	if !quoted(buf, begin, end) {
		return false
	}
	before := buf[max(0, begin-contextBytes) : begin-1]
	open := bytes.LastIndexByte(before, '[')
	within := func(c byte) bool { return isName(c) || isBlank(c) || c == '"' || c == ',' }
	return open >= 0 && !slices.ContainsFunc(before[open+1:], func(c byte) bool { return !within(c) }) &&
		endsInName(before[:open], "nodes", "subjects")
}

func quoted(buf []byte, begin, end int) bool {
	return begin > 0 && buf[begin-1] == '"' && end < len(buf) && buf[end] == '"'
}

// endsInName reports whether a text ends in the name of a field, and its colon.
func endsInName(text []byte, names ...string) bool {
	text, isField := bytes.CutSuffix(trimSpace(text), []byte{':'})
	text = trimSpace(text)
	return isField && slices.ContainsFunc(names, func(name string) bool {
		return bytes.HasSuffix(text, []byte(`"`+name+`"`))
	})
}

func trimSpace(text []byte) []byte {
	for len(text) > 0 && isBlank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

// framed returns the lengths that what begins at a place may have as a whole text: after its
// length in 32 bits, as the key of a record in Kafka's batches, or as the first or second field of
// a Protobuf message.
func framed(buf []byte, at int) (lengths []int) {
	if at >= 4 {
		fixed := buf[at-4 : at]
		lengths = append(lengths, int(binary.LittleEndian.Uint32(fixed)), int(binary.BigEndian.Uint32(fixed)))
	}
	const first, second = 1<<3 | 2, 2<<3 | 2
	for size := 1; size <= 2 && size <= at; size++ {
		length := buf[at-size : at]
		if n, read := binary.Varint(length); read == size && 0 < n && int(n) < len(buf)-at && beginsValue(buf[at+int(n):]) {
			lengths = append(lengths, int(n))
		}
		n, read := binary.Uvarint(length)
		if read == size && size < at && (buf[at-size-1] == first || buf[at-size-1] == second) {
			lengths = append(lengths, int(n))
		}
	}
	return lengths
}

// beginsValue reports whether what follows a key is the length of a value and the beginning of
// one, in JSON or in the format of Confluent's serializers, or says that there is none.
func beginsValue(text []byte) bool {
	length, n := binary.Varint(text[:min(len(text), binary.MaxVarintLen32)])
	if n <= 0 {
		return false
	}
	return length == -1 || length > 0 && n < len(text) && (text[n] == '{' || text[n] == 0)
}

func isName(c byte) bool { return joins(c) || bytes.IndexByte([]byte("-_.:/@#+~"), c) >= 0 }

// inKey reports whether a character may be in the key of a transaction or a payment.
func inKey(c byte) bool { return isName(c) || c == '>' }

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
