package scan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Texts returns the strings of a text that may be JSON, decoded, and the words between them.
func Texts(text []byte) (texts, words []string) {
	for len(text) > 0 {
		between, rest, _ := bytes.Cut(text, []byte{'"'})
		words = append(words, strings.FieldsFunc(string(between), func(c rune) bool {
			return c <= ' ' || strings.ContainsRune(",:{}[]", c)
		})...)
		if len(between) == len(text) {
			break
		}
		end := closingQuote(rest, 0)
		texts, text = append(texts, decoded(rest[:end])), rest[min(end+1, len(rest)):]
	}
	return texts, words
}

// decoded is a JSON string as encoding/json decodes it, or the legible part of an invalid one.
func decoded(raw []byte) (out string) {
	if json.Unmarshal(slices.Concat([]byte{'"'}, raw, []byte{'"'}), &out) != nil {
		return string(Unescape(raw))
	}
	return out
}

// Unescape decodes a JSON string as encoding/json does; invalid escapes stay.
func Unescape(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 || at+1 >= len(raw) {
			break
		}
		out, raw = append(out, raw[:at]...), raw[at:]
		if r, n := unicodeEscape(raw); n > 0 {
			out, raw = utf8.AppendRune(out, r), raw[n:]
			continue
		}
		if i := strings.IndexByte(`"\/bfnrt`, raw[1]); i >= 0 {
			out, raw = append(out, "\"\\/\b\f\n\r\t"[i]), raw[2:]
			continue
		}
		out, raw = append(out, raw[0]), raw[1:]
	}
	return append(out, raw...)
}

// unicodeEscape decodes \uXXXX or a surrogate pair. n is its length, 0 for none.
func unicodeEscape(raw []byte) (r rune, n int) {
	const length = len(`\uXXXX`)
	first, ok := hexEscape(raw)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, length
	}
	if second, ok := hexEscape(raw[length:]); ok {
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			return pair, 2 * length
		}
	}
	return utf8.RuneError, length
}

// hexEscape decodes one \uXXXX.
func hexEscape(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range raw[2:6] {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}
