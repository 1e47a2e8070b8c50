package ingest

import (
	"encoding/json"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"lethe"
)

// Searches for erased data read records as JSON. The content of a binary record is written
// as JSON for them, whether or not the record can be accepted.

// maxMessages bounds the nesting of messages of unknown schemas that are searched.
const maxMessages = 4

// Spelled returns parts of a record, followed by the JSON form of those that are binary
// records, and the records that they hold (see Opened).
func Spelled(parts [][]byte) [][]byte {
	out := parts[:len(parts):len(parts)]
	for _, part := range parts {
		if m, is := header(part); is {
			out = append(out, m.spell())
		}
		out = append(out, Opened(part)...)
	}
	return out
}

// Text returns a value in readable form: as JSON, if it is a binary record.
func Text(value []byte) string {
	if m, is := header(value); is {
		return string(m.spell())
	}
	return string(value)
}

// spell returns the content of a message as JSON: all texts and features, of a damaged message
// as far as it can be decoded.
func (m message) spell() []byte {
	out := appendText([]byte(`{"type":`), m.kind())
	fields := m.fields()
	features := binaryObject{&object{}}
	subjects, others := []string{}, []string{}
	for body := m.body; len(body) > 0; {
		number, kind, value, rest := nextField(body)
		if value == nil {
			break
		}
		body = rest
		f := noField
		if number <= protowire.Number(len(fields)) {
			f = fields[number-1]
		}
		switch {
		case f == fieldFeatures && (kind == protowire.BytesType || kind == protowire.Fixed32Type):
			features.row(value, kind)
		case f == fieldTimestep && kind == protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			out = appendTimestep(out, lethe.Timestep(min(v, lethe.MaxTimestep)))
		case kind != protowire.BytesType:
		case f == noField || f == fieldTimestep:
			others = append(others, texts(value, 0)...)
		default:
			text, _ := protowire.ConsumeString(value)
			if f == fieldSubjects {
				subjects = append(subjects, text)
				continue
			}
			out = append(appendText(append(out, ','), f.names()), ':')
			out = append(out, quoted(text)...)
		}
	}
	out = append(out, `,"features":[`...)
	for i, v := range features.features {
		if i > 0 {
			out = append(out, ',')
		}
		if math.IsInf(float64(v), 0) {
			v = lethe.Missing() // JSON has no infinity, and no accepted row holds one
		}
		out = lethe.AppendFeature(out, v)
	}
	out = append(append(out, `],"subjects":`...), quoted(subjects)...)
	return append(append(append(out, `,"others":`...), quoted(others)...), '}')
}

// texts returns the texts in a field that is a text, or a message that contains some.
func texts(value []byte, depth int) (out []string) {
	content, n := protowire.ConsumeBytes(value)
	if n < 0 || depth == maxMessages {
		return nil
	}
	if utf8.Valid(content) {
		out = append(out, string(content))
	}
	for len(content) > 0 {
		_, kind, value, rest := nextField(content)
		if value == nil {
			break
		}
		if kind == protowire.BytesType {
			out = append(out, texts(value, depth+1)...)
		}
		content = rest
	}
	return out
}

// nextField splits off the first field of a message. The value is nil if there is no field.
func nextField(b []byte) (number protowire.Number, kind protowire.Type, value, rest []byte) {
	number, kind, n := protowire.ConsumeTag(b)
	if n < 0 {
		return 0, 0, nil, nil
	}
	b = b[n:]
	if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
		return 0, 0, nil, nil
	}
	return number, kind, b[:n], b[n:]
}

// quoted encodes a text, or a list of them, as JSON. Invalid UTF-8 is replaced: the raw
// bytes are searched too.
func quoted(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		return []byte("null") // there is no such text
	}
	return out
}
