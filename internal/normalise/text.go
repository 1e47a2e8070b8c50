package normalise

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// NormalPart returns a part of a record with its names in normal form, and whether that changed the part. In JSON,
// every string is decoded, normalised and encoded again; other text is normalised as a whole. Invalid JSON is not
// trimmed.
func (r Rule) NormalPart(part []byte) ([]byte, bool) {
	if len(r) == 0 || len(part) == 0 || part[0] == 0 || !r.mayChange(part) {
		return part, false
	}
	if !json.Valid(part) {
		out := []byte(r.within(string(part)))
		return out, !bytes.Equal(out, part)
	}
	var out []byte
	from := 0
	for at := bytes.IndexByte(part, '"'); at >= 0; {
		end := closing(part, at+1)
		var text string
		if json.Unmarshal(part[at:end+1], &text) == nil {
			if name := r.Name(text); name != text {
				out = append(append(out, part[from:at]...), quoted(name)...)
				from = end + 1
			}
		}
		next := bytes.IndexByte(part[end+1:], '"')
		if next < 0 {
			break
		}
		at = end + 1 + next
	}
	if out == nil {
		return part, false
	}
	return append(out, part[from:]...), true
}

// mayChange quickly recognises the common case: ASCII without escapes and upper case.
func (r Rule) mayChange(part []byte) bool {
	lower, trims := r.has(Casefold), r.has(Trim)
	for i, c := range part {
		switch {
		case c >= utf8.RuneSelf || c == '\\' || lower && 'A' <= c && c <= 'Z':
			return true
		case trims && c == '"' && (i > 0 && part[i-1] == ' ' || i+1 < len(part) && part[i+1] == ' '):
			return true
		}
	}
	return false
}

// closing returns the closing quote of the string whose content begins at a position of valid
// JSON.
func closing(text []byte, at int) int {
	for text[at] != '"' {
		if text[at] == '\\' {
			at++
		}
		at++
	}
	return at
}

// quoted encodes a text as JSON.
func quoted(text string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return []byte(`""`) // unreachable
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}
