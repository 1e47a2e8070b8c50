package record

import (
	"bytes"
	"slices"
)

// member is a member of a JSON object: its name with the quotes, and name, colon and
// value as they stand in canonical JSON.
type member struct{ name, text []byte }

// appendSorted appends the value that valid JSON without white space begins with, the
// members of its objects in the order of their names, and returns what follows it.
func appendSorted(out, text []byte) (_, rest []byte) {
	switch text[0] {
	case '{':
		return appendObject(out, text)
	case '[':
		out = append(out, '[')
		for text = text[1:]; text[0] != ']'; {
			out, text = appendSorted(out, text)
			if text[0] == ',' {
				out, text = append(out, ','), text[1:]
			}
		}
		return append(out, ']'), text[1:]
	case '"':
		end := stringEnd(text)
		return append(out, text[:end]...), text[end:]
	default:
		end := bytes.IndexAny(text, ",]}")
		if end < 0 {
			end = len(text)
		}
		return append(out, text[:end]...), text[end:]
	}
}

// appendObject is appendSorted for an object.
func appendObject(out, text []byte) (_, rest []byte) {
	var members []member
	for text = text[1:]; text[0] != '}'; {
		end := stringEnd(text)
		m := member{name: text[:end]}
		m.text, rest = appendSorted(append(slices.Clone(m.name), ':'), text[end+1:])
		members = append(members, m)
		if text = rest; text[0] == ',' {
			text = text[1:]
		}
	}
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, m.text...)
	}
	return append(out, '}'), text[1:]
}

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
