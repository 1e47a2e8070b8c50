package ingest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// A rejected record is stored unchanged, and may contain another record: in the payload of Kafka
// Connect's envelope, the data of a CloudEvent, JSON in a string, or base64. Searches examine each
// of them as a record.

// maxOpenings bounds the nesting of records in records, leastEncoded is the shortest base64 that is
// decoded.
const (
	maxOpenings  = 4
	leastEncoded = 8
)

// Opened returns the parts of a record that may be records themselves. Texts in fields of the record formats are
// excluded: a name that is valid base64 is only a name.
func Opened(part []byte) [][]byte { return opened(nil, part, maxOpenings) }

// mayOpen reports whether a part may contain a record. It is a fast check that excludes nearly
// every record, because most have only fields of the record formats.
func mayOpen(part []byte) bool {
	at := bytes.IndexByte(part, '"')
	if at < 0 {
		return len(part) >= leastEncoded
	}
	inFormat := false
	for at >= 0 {
		end := closingQuote(part, at+1)
		if end == len(part) {
			return false // it is broken
		}
		raw, named := part[at+1:end], isName(part[end+1:])
		switch {
		case named && isEnvelope(string(raw)):
			return true
		case named:
			inFormat = isFormatField(string(raw))
		case !inFormat && mayBeRecord(raw):
			return true
		}
		if at = bytes.IndexByte(part[end+1:], '"'); at >= 0 {
			at += end + 1
		}
	}
	return false
}

// mayBeRecord reports whether a string, as JSON spells it, may contain a document or base64 that is decoded.
func mayBeRecord(raw []byte) bool {
	if len(raw) < leastEncoded {
		return false
	}
	start := bytes.TrimLeft(raw, " ")
	if bytes.IndexByte(raw, '\\') >= 0 || len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		return true
	}
	_, is := decoded(raw)
	return is
}

func opened(out [][]byte, part []byte, depth int) [][]byte {
	if depth == 0 || !mayOpen(part) {
		return out
	}
	inside := func(text []byte) {
		out = append(out, text)
		if m, is := header(text); is {
			out = append(out, m.spell())
		}
		out = opened(out, text, depth-1)
	}
	if !json.Valid(part) {
		if text, is := decoded(part); is {
			inside(text)
		}
		return out
	}
	w := walk{part: part, object: func(text []byte) { out = append(out, text) }}
	w.text = func(content []byte) {
		if text, is := decoded(content); is {
			inside(text)
		} else if isDocument(content) {
			inside(content)
		}
	}
	w.all()
	return out
}

// walk traverses a valid JSON text.
type walk struct {
	part []byte
	// text is called with every string that is no name, but those of fields of the record formats; object with the
	// objects of envelopes.
	text   func(content []byte)
	object func(text []byte)
	// field is the present one; lists reports for each open object or list whether it is a list.
	field []byte
	lists []bool
}

// all reads strings and brackets alone. A decoder's tokens would be four times the processor time, and most records of
// lethe's own topics come here.
func (w *walk) all() {
	for at := 0; at < len(w.part); at++ {
		switch c := w.part[at]; c {
		case '{', '[', '}', ']':
			w.delim(c, at)
		case '"':
			end := closingQuote(w.part, at+1)
			switch content := contentOf(w.part[at : end+1]); {
			case isName(w.part[end+1:]):
				w.field = content
			case len(w.lists) == 0 || !isFormatField(string(w.field)):
				w.text(content)
			}
			at = end
		}
	}
}

// closingQuote returns the end of the string whose content begins at a place, or the text's length.
func closingQuote(text []byte, at int) int {
	for ; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return min(at, len(text))
}

// isName reports whether the string before a rest of JSON names a field.
func isName(rest []byte) bool {
	for _, c := range rest { // bytes.TrimLeft would take a tenth of a search
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == ':'
		}
	}
	return false
}

// contentOf returns the content of a string in quotes.
func contentOf(quoted []byte) []byte {
	raw := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw
	}
	var content string
	if json.Unmarshal(quoted, &content) != nil {
		return raw
	}
	return []byte(content)
}

// delim processes the begin or end of an object or a list, at a place.
func (w *walk) delim(delim byte, at int) {
	if delim == '}' || delim == ']' {
		w.lists = w.lists[:len(w.lists)-1]
		return
	}
	if delim == '{' && isEnvelope(string(w.field)) && 0 < len(w.lists) && len(w.lists) <= maxOpenings {
		if text, is := value(w.part[at:]); is {
			w.object(text)
		}
	}
	w.lists = append(w.lists, delim == '[')
}

// isEnvelope reports whether a field contains a record as its producer wrote it.
func isEnvelope(field string) bool {
	switch field {
	case "payload", "data", "before", "after", "value":
		return true
	default:
		return false
	}
}

// isFormatField reports whether the field is a text field of the record formats.
func isFormatField(field string) bool {
	switch field {
	case "id", "type", "source", "target", "transaction", "label", "subjects":
		return true
	default:
		return false
	}
}

// value returns the JSON value at the start of a text.
func value(text []byte) (out json.RawMessage, ok bool) {
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&out)
	return out, err == nil
}

// isDocument reports whether a text is an object, a list or a string of JSON.
func isDocument(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && bytes.IndexByte([]byte(`{["`), text[0]) >= 0 && json.Valid(text)
}

// decoded decodes base64 of either alphabet, with padding or without, if that gives a text or a binary record.
func decoded(text []byte) (out []byte, is bool) {
	text = bytes.TrimRight(bytes.TrimSpace(text), "=")
	if len(text) < leastEncoded {
		return nil, false
	}
	for _, c := range text {
		if !isBase64(c) {
			return nil, false
		}
	}
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	out, err := encoding.AppendDecode(nil, text)
	return out, err == nil && (isBinary(out) || utf8.Valid(out))
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		bytes.IndexByte([]byte("+/-_\r\n"), c) >= 0
}
