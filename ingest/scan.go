package ingest

import (
	"fmt"
	"unicode/utf8"

	"lethe/internal/plainnumber"
)

// maxDepth bounds the nesting of a value that is skipped.
const maxDepth = 32

// scanner reads JSON (RFC 8259) strictly. encoding/json is not used for
// decoding because it accepts a field given twice, repairs invalid UTF-8 and
// matches field names without regard to case; a record must mean one thing.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) fail(what string) *Refusal {
	return &Refusal{Unparseable, fmt.Sprintf("%s at byte %d", what, s.at)}
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek returns the next byte that is no white space, or 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// take consumes the byte if it is next, and reports whether it was.
func (s *scanner) take(b byte) bool {
	if s.peek() != b {
		return false
	}
	s.at++
	return true
}

// each reads the items between an opening byte, already consumed, and the closing byte.
// item must consume one item.
func (s *scanner) each(closing byte, item func() *Refusal) *Refusal {
	if s.take(closing) {
		return nil
	}
	return s.items(closing, item)
}

// items is like each but requires at least one item.
func (s *scanner) items(closing byte, item func() *Refusal) *Refusal {
	for {
		if r := item(); r != nil {
			return r
		}
		switch {
		case s.take(','):
		case s.take(closing):
			return nil
		default:
			return s.fail("expected a comma or the end")
		}
	}
}

// number returns the text of the next number.
func (s *scanner) number() ([]byte, *Refusal) {
	s.space()
	start := s.at
	end, malformed := plainnumber.End(s.text, start)
	if s.at = end; malformed != "" {
		return nil, s.fail("malformed " + malformed)
	}
	return s.text[start:end], nil
}

// literal consumes true, false or null.
func (s *scanner) literal() *Refusal {
	for _, word := range [...]string{"true", "false", "null"} {
		if end := s.at + len(word); end <= len(s.text) && string(s.text[s.at:end]) == word {
			s.at = end
			return nil
		}
	}
	return s.fail("expected a value")
}

// skip consumes a value of any kind.
func (s *scanner) skip(depth int) *Refusal {
	if depth > maxDepth {
		return s.fail("nested too deep")
	}
	switch s.peek() {
	case '{':
		s.at++
		return s.each('}', func() *Refusal {
			if _, r := s.string(); r != nil {
				return r
			}
			if !s.take(':') {
				return s.fail("expected a colon")
			}
			return s.skip(depth + 1)
		})
	case '[':
		s.at++
		return s.each(']', func() *Refusal { return s.skip(depth + 1) })
	case '"':
		_, r := s.string()
		return r
	case 't', 'f', 'n':
		return s.literal()
	default:
		_, r := s.number()
		return r
	}
}

// end checks that only white space is left.
func (s *scanner) end() *Refusal {
	if s.peek() != 0 || s.at < len(s.text) {
		return s.fail("bytes after the object")
	}
	return nil
}

func newScanner(text []byte) (*scanner, *Refusal) {
	if !utf8.Valid(text) {
		return nil, &Refusal{Unparseable, "invalid UTF-8"}
	}
	return &scanner{text: text}, nil
}

// plainNumbers appends the next numbers, each with its comma, as long as they are in plain
// notation: most of the input is features. It stops before the first number in another notation.
func (s *scanner) plainNumbers(to []float32) []float32 {
	for {
		v, end, ok := plainnumber.Float32(s.text, s.at)
		if !ok || end == len(s.text) || s.text[end] != ',' {
			return to
		}
		to, s.at = append(to, v), end+1
	}
}
