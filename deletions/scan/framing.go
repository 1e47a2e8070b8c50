package scan

import (
	"bytes"
	"encoding/binary"
	"slices"

	"lethe"
)

// The id of a transaction may be part of the id of another: order-1 in order-1|b. In raw bytes the longer name is
// recognised by its frame, whatever its characters are, and an occurrence inside it is not one of the erased id. The
// frames are those of lethe's own formats:
//
//   - a string of JSON in a field or list of names, also where that JSON is in strings of JSON;
//   - a length in 32 bits, little-endian in canonical bytes, big-endian in the stores;
//   - the key of a Kafka record, identified by the record around it;
//   - a field of names of a Protobuf message behind the header of Confluent's serializers.
//
// Stores hold records as their producers wrote them in frames of their own (blobs), and the JSON in one of these may
// parse as a name. A blob counts as a name only where it is a record's key, or where the pseudonym of that name
// precedes it.

// window is an occurrence in a buffer.
type window struct {
	from, to int
	// bare means that it is an id without quotation marks or a field's name.
	bare bool
}

// inLongerName reports whether an occurrence is part of a longer name.
func inLongerName(secret lethe.Secret, buf []byte, w window) bool {
	return inNameString(buf, w) || inFramedName(secret, buf, w)
}

// maxNameSpellingBytes bounds a name in JSON: encoding/json writes a byte as six at most.
const maxNameSpellingBytes = 6 * lethe.MaxNameBytes

// inNameString looks for a name in the JSON string around a window, at every level of nesting.
func inNameString(buf []byte, w window) bool {
	from, to := w.from, w.to
	for level := range maxNesting + 1 {
		begin, opened := quoteBefore(buf, from, level)
		end, closed := quoteBehind(buf, to, level)
		if !opened || !closed || w.bare && begin == from && end == to || hasQuote(buf, from, to, level) {
			continue
		}
		field, isName := nameField(buf, begin-delimiterBytes(level), level)
		if !isName {
			continue
		}
		text := buf[begin:end]
		for range level {
			text = Unescape(text)
		}
		if fitsName(field, text) {
			return true
		}
	}
	return false
}

// A delimiting quotation mark has 2^level-1 backslashes before it, one inside the string more: the level is the
// number of trailing ones of that count in binary.

// delimiterBytes is the length of a quotation mark with its backslashes.
func delimiterBytes(level int) int { return 1 << level }

func quoteLevel(buf []byte, at int) (level int) {
	slashes := 0
	for at-slashes > 0 && buf[at-slashes-1] == '\\' {
		slashes++
	}
	for ; slashes&1 == 1; slashes >>= 1 {
		level++
	}
	return level
}

// quoteBefore returns the begin of the string of a level around a place. Marks of higher levels are inside it; a
// lower one ends the text around it.
func quoteBefore(buf []byte, from, level int) (begin int, found bool) {
	for at := from - 1; at >= 0 && from-at <= maxNameSpellingBytes; at-- {
		if buf[at] == '"' {
			if l := quoteLevel(buf, at); l <= level {
				return at + 1, l == level
			}
		}
	}
	return 0, false
}

// quoteBehind returns its end.
func quoteBehind(buf []byte, to, level int) (end int, found bool) {
	for at := to; at < len(buf) && at-to <= maxNameSpellingBytes; at++ {
		if buf[at] == '"' {
			if l := quoteLevel(buf, at); l <= level {
				return at + 1 - delimiterBytes(level), l == level && at+1-delimiterBytes(level) >= to
			}
		}
	}
	return 0, false
}

// hasQuote reports whether a mark of a level or lower is in a range.
func hasQuote(buf []byte, from, to, level int) bool {
	for at := from; at < to; at++ {
		if buf[at] == '"' && quoteLevel(buf, at) <= level {
			return true
		}
	}
	return false
}

// nameField returns the field that a string is a value of, or a list element of, if it is for names. at is the
// string's quotation mark.
func nameField(buf []byte, at, level int) (field string, isName bool) {
	text := buf[max(0, at-contextBytes):max(0, at)]
	if field, isName = fieldBefore(text, level); isName {
		return field, !isListField(field)
	}
	for {
		text = trimSpace(text)
		switch {
		case bytes.HasSuffix(text, []byte{'['}):
			field, isName = fieldBefore(text[:len(text)-1], level)
			return field, isName && isListField(field)
		case !bytes.HasSuffix(text, []byte{','}):
			return "", false
		}
		text = trimSpace(text[:len(text)-1])
		if len(text) == 0 || text[len(text)-1] != '"' || quoteLevel(text, len(text)-1) != level {
			return "", false
		}
		begin, found := quoteBefore(text, len(text)-delimiterBytes(level), level)
		if !found {
			return "", false
		}
		text = text[:begin-delimiterBytes(level)]
	}
}

func isListField(field string) bool { return field == "nodes" || field == "subjects" }

// fieldBefore returns the field for names at the end of a text, with its colon.
func fieldBefore(text []byte, level int) (field string, isName bool) {
	text, isField := bytes.CutSuffix(trimSpace(text), []byte{':'})
	if !isField {
		return "", false
	}
	text = trimSpace(text)
	delimiter := append(bytes.Repeat([]byte{'\\'}, delimiterBytes(level)-1), '"')
	for _, name := range append(idFields(), "nodes", "subjects") {
		if bytes.HasSuffix(text, slices.Concat(delimiter, []byte(name), delimiter)) {
			return name, true
		}
	}
	return "", false
}

// inFramedName looks for a name after its length around a window. The length of a key of 17 bytes is a quotation mark:
// with that the window of a quoted id may begin.
func inFramedName(secret lethe.Secret, buf []byte, w window) bool {
	from, to := w.from, w.to
	first := from
	if !w.bare {
		first++
	}
	for at := first; at >= 0 && from-at <= 2*lethe.MaxNameBytes; at-- {
		if at < from && buf[at] < ' ' {
			break // no name holds it
		}
		for _, n := range nameLengths(secret, buf, at) {
			text := buf[at : at+n]
			if to <= at+n && (!w.bare || isPart(n, bytes.IndexByte(text, '>'), from-at, to-at)) {
				return true
			}
		}
	}
	return false
}

// nameLengths returns the lengths of names at a place, by the frames before it.
func nameLengths(secret lethe.Secret, buf []byte, at int) (lengths []int) {
	if at >= 4 {
		fixed := buf[at-4 : at]
		little, big := binary.LittleEndian.Uint32(fixed), binary.BigEndian.Uint32(fixed)
		if holdsName(buf, at, uint64(little), isSubjectName) {
			lengths = append(lengths, int(little))
		}
		if holdsName(buf, at, uint64(big), isSubjectName) && isStoredName(secret, buf, at, int(big)) {
			lengths = append(lengths, int(big))
		}
		if holdsName(buf, at, uint64(big), isKeyName) && isBlob(buf, at-4) && isKeyBlob(buf, at+int(big)) {
			lengths = append(lengths, int(big))
		}
	}
	for size := 1; size <= 2 && size <= at; size++ {
		length, read := binary.Varint(buf[at-size : at])
		if read == size && length > 0 && holdsName(buf, at, uint64(length), isKeyName) && isRecordKey(buf, at-size) {
			lengths = append(lengths, int(length))
		}
	}
	if n, found := protobufName(buf, at); found && holdsName(buf, at, n, isIDName) {
		lengths = append(lengths, int(n))
	}
	return lengths
}

// holdsName reports whether a text of a length at a place is complete and may be a name.
func holdsName(buf []byte, at int, length uint64, may func([]byte) bool) bool {
	return length > 0 && length <= 2*lethe.MaxNameBytes+1 && int(length) <= len(buf)-at && may(buf[at:at+int(length)])
}

// isStoredName reports whether a text after its big-endian length is a store's own and no part of a record: its
// length is neither a blob's nor a key length after three zeros, or the name's pseudonym precedes it.
func isStoredName(secret lethe.Secret, buf []byte, at, length int) bool {
	if !isBlob(buf, at-4) && !isRecordKey(buf, at-1) {
		return true
	}
	pseudonym := secret.Pseudonym(lethe.TransactionID(buf[at : at+length]))
	return bytes.Contains(buf[max(0, at-contextBytes):at], pseudonym[len(pseudonym)-pseudonymTailBytes:])
}

// isBlob reports whether a length may be a blob's: after a 1 that does not end a 64-bit number, such as timestep 1.
func isBlob(buf []byte, at int) bool {
	return at > 0 && buf[at-1] == 1 && (at < 8 || binary.BigEndian.Uint32(buf[at-8:]) != 0)
}

// isKeyBlob reports whether a blob is a record's key: its value follows as another blob.
func isKeyBlob(buf []byte, end int) bool {
	const prefix = 5
	if len(buf)-end <= prefix || buf[end] != 1 {
		return false
	}
	length, first := binary.BigEndian.Uint32(buf[end+1:]), buf[end+prefix]
	return length > 0 && length < 1<<30 && (first == '{' || first == 0)
}
