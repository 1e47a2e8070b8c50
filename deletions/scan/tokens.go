package scan

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// tokens reads a JSON text token by token without keeping it, broken JSON as far as possible.
type tokens struct {
	text []byte
	at   int
}

// token is one of { } [ ], a string without quotes, or a literal such as a number.
type token struct {
	kind byte
	raw  []byte
}

const (
	stringToken  = '"'
	literalToken = '0'
	noToken      = 0
)

// next returns the next token; noToken at the end. Commas and colons are skipped.
func (t *tokens) next() token {
	for ; t.at < len(t.text); t.at++ {
		switch c := t.text[t.at]; {
		case c <= ' ' || c == ',' || c == ':':
		case c == '{' || c == '}' || c == '[' || c == ']':
			t.at++
			return token{kind: c}
		case c == '"':
			from := t.at + 1
			to := closingQuote(t.text, from)
			t.at = to + 1
			return token{stringToken, t.text[min(from, to):to]}
		default:
			from := t.at
			for t.at++; t.at < len(t.text) && !endsLiteral(t.text[t.at]); {
				t.at++
			}
			return token{literalToken, t.text[from:t.at]}
		}
	}
	return token{}
}

func endsLiteral(c byte) bool { return c <= ' ' || bytes.IndexByte([]byte(`,:{}[]"`), c) >= 0 }

// Texts returns the strings of a text that may be JSON, decoded, and the words between them.
func Texts(text []byte) (texts, words []string) {
	for t := (tokens{text: text}); ; {
		switch next := t.next(); next.kind {
		case stringToken:
			texts = append(texts, next.said())
		case literalToken:
			words = append(words, string(next.raw))
		case noToken:
			return texts, words
		}
	}
}

func (t token) opens() bool { return t.kind == '{' || t.kind == '[' }

func (t token) closes() bool { return t.kind == '}' || t.kind == ']' }

func (t token) isNull() bool { return t.kind == literalToken && string(t.raw) == missingText }

// said is a string decoded.
func (t token) said() string {
	if bytes.IndexByte(t.raw, '\\') < 0 && utf8.Valid(t.raw) {
		return string(t.raw)
	}
	var out string
	quoted := append(append([]byte{'"'}, t.raw...), '"')
	if json.Unmarshal(quoted, &out) != nil {
		return string(unescape(t.raw))
	}
	return out
}

// pastValue skips the value that begins with a token.
func (t *tokens) pastValue(first token) {
	for depth := 0; ; first = t.next() {
		switch {
		case first.opens():
			depth++
		case first.closes():
			depth--
		}
		if depth <= 0 || first.kind == noToken {
			return
		}
	}
}
