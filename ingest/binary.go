package ingest

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"lethe"
	"lethe/internal/floatbytes"
)

// A record of transactions.v1 may be Protobuf in the wire format of Confluent's serializers: a
// zero byte, the id of the schema as 4 bytes, big-endian, the index of the message in the
// schema, and the message. schemas/transactions.v1.proto has the messages. No JSON begins with a
// zero byte.

// magic begins a binary record.
const magic = 0

// schemaBytes is the length of the schema id.
const schemaBytes = 4

// The messages of the schema, by their index in it.
const (
	transactionMessage = iota
	paymentMessage
	closeMessage
)

// message is a binary record whose header has been read.
type message struct {
	schema uint32
	// index is the index of the message in its schema, -1 for a nested message.
	index int
	body  []byte
	// at is where the body begins.
	at int
}

// isBinary reports whether a value is, or should be, a binary record.
func isBinary(value []byte) bool { return len(value) > 0 && value[0] == magic }

// header reads the header of a binary record.
func header(value []byte) (m message, ok bool) {
	if !isBinary(value) || len(value) < 1+schemaBytes {
		return m, false
	}
	m.schema = binary.BigEndian.Uint32(value[1:])
	rest := value[1+schemaBytes:]
	path, n := consumeZigZag(rest)
	if n < 0 || path < 0 {
		return m, false
	}
	rest = rest[n:]
	// An empty path is short for the first message.
	for i := range path {
		next, n := consumeZigZag(rest)
		if n < 0 || next < 0 {
			return m, false
		}
		if rest = rest[n:]; i == 0 && path == 1 {
			m.index = int(next)
		} else {
			m.index = -1
		}
	}
	m.body, m.at = rest, len(value)-len(rest)
	return m, true
}

func consumeZigZag(b []byte) (int64, int) {
	v, n := protowire.ConsumeVarint(b)
	return protowire.DecodeZigZag(v), n
}

// fields returns the fields of the message, by number starting at 1.
func (m message) fields() []field {
	switch m.index {
	case transactionMessage:
		return []field{fieldID, fieldTimestep, fieldFeatures, fieldSubjects}
	case paymentMessage:
		return []field{fieldSource, fieldTarget, fieldTimestep, fieldSubjects}
	case closeMessage:
		return []field{fieldTimestep}
	default:
		return nil
	}
}

// kind returns the type of the message as it is written in JSON.
func (m message) kind() string {
	kinds := [...]string{transactionMessage: "transaction", paymentMessage: "payment", closeMessage: "close"}
	if m.index < 0 || m.index >= len(kinds) {
		return ""
	}
	return kinds[m.index]
}

// parseValue reads a record of transactions.v1, in either format, into an empty object.
func parseValue(into *object, value []byte, featureHint int) *Refusal {
	if !isBinary(value) {
		return parseObject(into, value, featureHint)
	}
	m, ok := header(value)
	if !ok {
		return &Refusal{Unparseable, "malformed header of a binary record" + otherFormat(value)}
	}
	if m.kind() == "" {
		return &Refusal{UnknownType, "no message that is read" + otherFormat(value)}
	}
	into.present, into.kind, into.schema, into.binary = fieldType, m.kind(), m.schema, true
	o := binaryObject{into}
	fields := m.fields()
	for at := 0; at < len(m.body); {
		number, kind, n := protowire.ConsumeTag(m.body[at:])
		if n < 0 {
			return malformed(m, at)
		}
		at += n
		f := noField
		if number <= protowire.Number(len(fields)) {
			f = fields[number-1]
		}
		if f == noField {
			o.unknown = true
		}
		n, r := o.field(m.body[at:], f, number, kind)
		if r != nil {
			return r
		}
		if n < 0 {
			return malformed(m, at)
		}
		at += n
	}
	return nil
}

func malformed(m message, at int) *Refusal {
	return &Refusal{Unparseable, fmt.Sprintf("malformed Protobuf at byte %d%s", m.at+at, otherFormat(nil))}
}

// otherFormat names the serializer of a record that is not Protobuf. Avro and Protobuf cannot be distinguished with
// certainty.
func otherFormat(value []byte) string {
	if len(value) > 1+schemaBytes && (value[1+schemaBytes] == '{' || value[1+schemaBytes] == '[') {
		return ": it is of Confluent's JSON Schema serializer, which adds 5 bytes; send JSON without them, or Protobuf"
	}
	return ": if it is of Confluent's Avro serializer, send JSON or Protobuf"
}

// binaryObject is the content of a binary record.
type binaryObject struct{ *object }

// field reads the value of a field, noField for one to be ignored, and returns its length.
func (o binaryObject) field(b []byte, f field, number protowire.Number, kind protowire.Type) (int, *Refusal) {
	repeated := f == fieldFeatures || f == fieldSubjects
	if o.present&f != 0 && !repeated {
		return 0, &Refusal{DuplicateField, "second " + f.names()}
	}
	o.present |= f
	switch {
	case f == fieldTimestep && kind == protowire.VarintType:
		v, n := protowire.ConsumeVarint(b)
		if o.timestep = lethe.Timestep(v); v > lethe.MaxTimestep {
			o.timestep = 0
			o.note(f, BadTimestep, "timestep is not an integer of 0..2^53")
		}
		return n, nil
	case f == fieldFeatures && (kind == protowire.BytesType || kind == protowire.Fixed32Type):
		return o.row(b, kind), nil
	case f != noField && f != fieldTimestep && f != fieldFeatures && kind == protowire.BytesType:
		text, n := protowire.ConsumeBytes(b)
		if n >= 0 && !utf8.Valid(text) {
			return 0, &Refusal{Unparseable, "invalid UTF-8"}
		}
		if f == fieldSubjects {
			o.subjects = append(o.subjects, string(text))
		} else {
			*o.text(f) = string(text)
		}
		return n, nil
	}
	if f != noField {
		o.note(f, BadType, f.names()+" is of another type")
	}
	return protowire.ConsumeFieldValue(number, kind, b), nil
}

// row reads features, packed or a single one. A value that is NaN counts as missing.
func (o binaryObject) row(b []byte, kind protowire.Type) (length int) {
	packed, length := b, floatbytes.Size
	if kind == protowire.BytesType {
		packed, length = protowire.ConsumeBytes(b)
	}
	if length < 0 || length > len(b) {
		return -1
	}
	if kind == protowire.Fixed32Type {
		packed = b[:floatbytes.Size]
	}
	if len(packed)%floatbytes.Size != 0 {
		o.note(fieldFeatures, BadType, "features are not of 4 bytes each")
		return length
	}
	if o.features == nil {
		o.features = o.room.take(len(packed) / floatbytes.Size)
	}
	from := len(o.features)
	o.features = floatbytes.AppendValues(o.features, packed)
	const infinite = 0x7f800000
	of := furthest(o.features[from:])
	if of >= infinite {
		o.tame(from)
	}
	o.furthest = max(o.furthest, of)
	return length
}

// tame detects infinite features, from index from on, and replaces NaN with the missing
// value.
func (o binaryObject) tame(from int) {
	for i, v := range o.features[from:] {
		switch {
		case v != v:
			o.features[from+i] = lethe.Missing()
		case math.IsInf(float64(v), 0):
			o.note(fieldFeatures, FeatureNotFinite, fmt.Sprintf("feature %d is infinite", from+i))
		}
	}
}
