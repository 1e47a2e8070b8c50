package ingest

import "github.com/go-json-experiment/json/jsontext"

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

// escaped reads a string with escapes, the first of which is at a place.
func (s *scanner) escaped(first int) (string, *Refusal) {
	end := closingQuote(s.text, first)
	if end == len(s.text) {
		return "", s.fail("string without an end")
	}
	out, err := jsontext.AppendUnquote(nil, s.text[s.at-1:end+1])
	if err != nil {
		return "", s.fail("malformed escape or control character in a string")
	}
	s.at = end + 1
	return string(out), nil
}
