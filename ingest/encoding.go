package ingest

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"lethe"
	"lethe/internal/floatbytes"
)

// Encoding is the format of records of transactions.v1: JSON, the zero value, or Protobuf.
type Encoding struct {
	binary bool
	schema uint32
}

// Protobuf returns the Protobuf encoding with the schema id that a registry assigned, or any id
// if there is no registry.
func Protobuf(schema uint32) Encoding { return Encoding{true, schema} }

// encodingOf returns the encoding of a value.
func encodingOf(value []byte) Encoding {
	m, is := header(value)
	return Encoding{is, m.schema}
}

// Transaction is EncodeTransaction in this encoding.
func (e Encoding) Transaction(t lethe.Transaction) (key, value []byte, err error) {
	key, value, err = EncodeTransaction(t)
	if err != nil || !e.binary {
		return key, value, err
	}
	value = e.begin(make([]byte, 0, 32+len(t.ID)+floatbytes.Size*len(t.Features)), transactionMessage)
	value = appendString(value, 1, string(t.ID))
	value = appendUint(value, 2, uint64(t.Timestep))
	value = protowire.AppendTag(value, 3, protowire.BytesType)
	value = protowire.AppendVarint(value, uint64(floatbytes.Size*len(t.Features)))
	value = floatbytes.Append(value, t.Features)
	for _, subject := range t.Subjects {
		value = appendString(value, 4, subject)
	}
	return key, value, nil
}

// Payment is EncodePayment in this encoding.
func (e Encoding) Payment(p lethe.Payment) (key, value []byte, err error) {
	key, value, err = EncodePayment(p)
	if err != nil || !e.binary {
		return key, value, err
	}
	value = appendString(e.begin(nil, paymentMessage), 1, string(p.Source))
	value = appendString(value, 2, string(p.Target))
	return key, appendUint(value, 3, uint64(p.Timestep)), nil
}

// Close is EncodeClose in this encoding.
func (e Encoding) Close(t lethe.Timestep, partition int) (key, value []byte) {
	if !e.binary {
		return EncodeClose(t, partition)
	}
	return CloseKey(t, partition), appendUint(e.begin(nil, closeMessage), 1, uint64(t))
}

// begin appends the header of a message.
func (e Encoding) begin(b []byte, index int64) []byte {
	b = binary.BigEndian.AppendUint32(append(b, magic), e.schema)
	if index == transactionMessage {
		return append(b, 0) // short for the path of the first message
	}
	b = protowire.AppendVarint(b, protowire.EncodeZigZag(1))
	return protowire.AppendVarint(b, protowire.EncodeZigZag(index))
}

func appendString(b []byte, number protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

func appendUint(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

// ParseEncoding reads the name of an encoding: json or protobuf.
func ParseEncoding(name string, schema uint32) (Encoding, error) {
	switch name {
	case "json":
		return Encoding{}, nil
	case "protobuf":
		return Protobuf(schema), nil
	default:
		return Encoding{}, fmt.Errorf("format is %q, want json or protobuf", name)
	}
}
