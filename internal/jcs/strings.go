package jcs

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// stringEnd is the length of the string that the text begins with, quotes included.
func stringEnd(text []byte) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// appendString appends a string, in quotes, with what must be escaped and no more (RFC
// 8785, section 3.2.2.2).
func appendString(out, quoted []byte) ([]byte, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(out, quoted...), nil
	}
	text, err := unquote(quoted)
	if err != nil {
		return nil, err
	}
	out = append(out, '"')
	for _, c := range text {
		switch short := bytes.IndexByte([]byte("\b\t\n\f\r\"\\"), c); {
		case short >= 0:
			out = append(out, '\\', `btnfr"\`[short])
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"'), nil
}

// unquote decodes a valid string.
func unquote(quoted []byte) ([]byte, error) {
	raw := quoted[1 : len(quoted)-1]
	out := make([]byte, 0, len(raw))
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return append(out, raw...), nil
		}
		out, raw = append(out, raw[:at]...), raw[at:]
		if raw[1] != 'u' {
			out = append(out, "\"\\/\b\f\n\r\t"[bytes.IndexByte([]byte(`"\/bfnrt`), raw[1])])
			raw = raw[2:]
			continue
		}
		r, length := rune(codeUnit(raw)), len(`\u0000`)
		if utf16.IsSurrogate(r) {
			rest := raw[length:]
			if !bytes.HasPrefix(rest, []byte(`\u`)) {
				return nil, fmt.Errorf("%w: half a surrogate pair", ErrNoForm)
			}
			if r = utf16.DecodeRune(r, rune(codeUnit(rest))); r == utf8.RuneError {
				return nil, fmt.Errorf("%w: half a surrogate pair", ErrNoForm)
			}
			length *= 2
		}
		out, raw = utf8.AppendRune(out, r), raw[length:]
	}
}

// codeUnit decodes the \uXXXX at the beginning.
func codeUnit(raw []byte) uint16 {
	var unit [2]byte
	_, _ = hex.Decode(unit[:], raw[2:6]) // valid JSON has hexadecimal digits there
	return binary.BigEndian.Uint16(unit[:])
}
