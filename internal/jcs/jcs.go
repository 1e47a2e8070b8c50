package jcs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrNoForm marks what has no canonical form: what is no JSON, an object with two members
// of one name, half a surrogate pair, a number that a float64 does not hold, what is nested
// deeper than maxDepth. Its text does not repeat what was read.
var ErrNoForm = errors.New("no canonical JSON")

// Encode returns a value as canonical JSON. Numbers are those of JSON: an integer that a
// float64 does not hold exactly is ErrNoForm, where it would otherwise become another.
func Encode(v any) ([]byte, error) { return encode(v, form{}) }

// EncodeExact is Encode, but integers keep all their digits: where one is beyond 2^53, the
// text is not of RFC 8785, and programs that know no other numbers than float64 read it as
// another.
func EncodeExact(v any) ([]byte, error) { return encode(v, form{exact: true}) }

func encode(v any, f form) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return f.canonical(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
}

// Transform returns the canonical form of a JSON text.
func Transform(text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrNoForm)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, fmt.Errorf("%w: not JSON", ErrNoForm)
	}
	return form{}.canonical(compact.Bytes())
}

// maxDepth is how deep values may be nested, far deeper than any of lethe's. What an object
// holds is copied once for each that it stands in, so that without a limit ten megabytes that
// somebody else wrote keep a processor busy for half a minute.
const maxDepth = 100

// form is how values are written.
type form struct {
	// exact says that integers stand as they are.
	exact bool
}

// canonical transforms valid JSON without white space.
func (f form) canonical(text []byte) ([]byte, error) {
	out, _, err := f.appendValue(make([]byte, 0, len(text)), text, maxDepth)
	return out, err
}

// member is a member of an object: its name as it sorts, and name, colon and value.
type member struct {
	name []uint16
	text []byte
}

// appendValue appends the value that valid JSON without white space begins with, and
// returns what follows it. It may hold values nested as deep as given.
func (f form) appendValue(out, text []byte, depth int) (_, rest []byte, err error) {
	if depth < 0 {
		return nil, nil, fmt.Errorf("%w: nested deeper than %d", ErrNoForm, maxDepth)
	}
	switch text[0] {
	case '{':
		return f.appendObject(out, text, depth-1)
	case '[':
		out = append(out, '[')
		for text = text[1:]; text[0] != ']'; {
			if out, text, err = f.appendValue(out, text, depth-1); err != nil {
				return nil, nil, err
			}
			if text[0] == ',' {
				out, text = append(out, ','), text[1:]
			}
		}
		return append(out, ']'), text[1:], nil
	case '"':
		end := stringEnd(text)
		out, err = appendString(out, text[:end])
		return out, text[end:], err
	case 't', 'f', 'n':
		end := scalarEnd(text)
		return append(out, text[:end]...), text[end:], nil
	default:
		end := scalarEnd(text)
		out, err = f.appendNumber(out, text[:end])
		return out, text[end:], err
	}
}

// scalarEnd is the length of the number or literal that the text begins with.
func scalarEnd(text []byte) int {
	if end := bytes.IndexAny(text, ",]}"); end >= 0 {
		return end
	}
	return len(text)
}

// appendObject is appendValue for an object.
func (f form) appendObject(out, text []byte, depth int) (_, rest []byte, err error) {
	var members []member
	for text = text[1:]; text[0] != '}'; {
		end := stringEnd(text)
		written, err := appendString(nil, text[:end])
		if err != nil {
			return nil, nil, err
		}
		m := member{name: sortedBy(text[:end])}
		if m.text, rest, err = f.appendValue(append(written, ':'), text[end+1:], depth); err != nil {
			return nil, nil, err
		}
		members = append(members, m)
		if text = rest; text[0] == ',' {
			text = text[1:]
		}
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.name, b.name) })
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			if slices.Equal(m.name, members[i-1].name) {
				return nil, nil, fmt.Errorf("%w: an object has two members of one name", ErrNoForm)
			}
			out = append(out, ',')
		}
		out = append(out, m.text...)
	}
	return append(out, '}'), text[1:], nil
}

// sortedBy is what a member is sorted by: the UTF-16 code units of its name (RFC 8785,
// section 3.2.3).
func sortedBy(quoted []byte) []uint16 {
	name, _ := unquote(quoted)
	out := make([]uint16, 0, len(name))
	for len(name) > 0 {
		r, n := utf8.DecodeRune(name)
		out, name = utf16.AppendRune(out, r), name[cmp.Or(n, 1):]
	}
	return out
}
