package normalise

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
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
	if bytes.IndexByte(part, '\\') >= 0 || !isASCII(part) {
		return true
	}
	lower, trims := r.has(Casefold), r.has(Trim)
	if !lower && !trims {
		return false
	}
	for i, c := range part {
		switch {
		case lower && 'A' <= c && c <= 'Z':
			return true
		case trims && c == '"' && (i > 0 && part[i-1] == ' ' || i+1 < len(part) && part[i+1] == ' '):
			return true
		}
	}
	return false
}

// isASCII reads eight bytes at a time.
func isASCII(part []byte) bool {
	const highBits = 0x8080808080808080
	for ; len(part) >= 8; part = part[8:] {
		if binary.LittleEndian.Uint64(part)&highBits != 0 {
			return false
		}
	}
	return !slices.ContainsFunc(part, func(c byte) bool { return c >= utf8.RuneSelf })
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
