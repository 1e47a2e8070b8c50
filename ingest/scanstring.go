package ingest

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string returns the content of the next string.
func (s *scanner) string() (string, *Refusal) {
	if !s.take('"') {
		return "", s.fail("expected a string")
	}
	for i := s.at; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			out := string(s.text[s.at:i])
			s.at = i + 1
			return out, nil
		case c == '\\':
			return s.escaped(i)
		case c < ' ':
			s.at = i
			return "", s.fail("control character in a string")
		}
	}
	return "", s.fail("string without an end")
}

// escaped reads a string whose first escape is at position first.
func (s *scanner) escaped(first int) (string, *Refusal) {
	out := append([]byte(nil), s.text[s.at:first]...)
	for s.at = first; s.at < len(s.text); {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return string(out), nil
		case c < ' ':
			return "", s.fail("control character in a string")
		case c != '\\':
			out = append(out, c)
			s.at++
		default:
			char, r := s.escape()
			if r != nil {
				return "", r
			}
			out = utf8.AppendRune(out, char)
		}
	}
	return "", s.fail("string without an end")
}

// escape reads one escape sequence, or two that form a surrogate pair.
func (s *scanner) escape() (rune, *Refusal) {
	s.at++
	if s.at == len(s.text) {
		return 0, s.fail("string without an end")
	}
	c := s.text[s.at]
	s.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return s.unicode()
	default:
		return 0, s.fail("unknown escape")
	}
}

func (s *scanner) unicode() (rune, *Refusal) {
	high, ok := s.hex4()
	if !ok {
		return 0, s.fail("malformed escape")
	}
	if !utf16.IsSurrogate(high) {
		return high, nil
	}
	if s.at+2 <= len(s.text) && s.text[s.at] == '\\' && s.text[s.at+1] == 'u' {
		s.at += 2
		if low, ok := s.hex4(); ok {
			if char := utf16.DecodeRune(high, low); char != utf8.RuneError {
				return char, nil
			}
		}
	}
	return 0, s.fail("surrogate without its pair")
}

func (s *scanner) hex4() (rune, bool) {
	if s.at+4 > len(s.text) {
		return 0, false
	}
	for _, c := range s.text[s.at : s.at+4] {
		// ParseUint would accept a sign or an underscore.
		if c == '+' || c == '-' || c == '_' {
			return 0, false
		}
	}
	v, err := strconv.ParseUint(string(s.text[s.at:s.at+4]), 16, 32)
	if err != nil {
		return 0, false
	}
	s.at += 4
	return rune(v), true
}
