package translog

import (
	"bytes"
	"encoding/json"
	"fmt"

	"lethe/deletions/internal/record"
)

const leafFormat = "lethe-leaf/1"

// maxLeafBytes bounds a leaf. The largest request, of 1,000 targets, takes 67 kB.
const maxLeafBytes = 512 << 10

// envelope is a stored leaf.
type envelope struct {
	Body   json.RawMessage `json:"body"`
	Format string          `json:"format"`
	Kind   Kind            `json:"kind"`
}

// Encode returns a leaf as canonical JSON on one line. The error names every problem.
func Encode(l Leaf) ([]byte, error) {
	var p record.Problems
	l.check(&p)
	if err := p.Err(); err != nil {
		return nil, fmt.Errorf("leaf of kind %s: %w", l.Kind(), err)
	}
	body, err := record.Encode(l)
	if err != nil {
		return nil, fmt.Errorf("leaf of kind %s: %w", l.Kind(), err)
	}
	out, err := record.Encode(envelope{body, leafFormat, l.Kind()})
	if err == nil && len(out) > maxLeafBytes {
		err = fmt.Errorf("leaf of kind %s has %d bytes, at most %d", l.Kind(), len(out), maxLeafBytes)
	}
	return out, err
}

// Decode accepts exactly the output of Encode; anything else is ErrFormat.
func Decode(data []byte) (Leaf, error) {
	if len(data) > maxLeafBytes {
		return nil, fmt.Errorf("leaf: %w: %d bytes, at most %d", record.ErrFormat, len(data), maxLeafBytes)
	}
	var e envelope
	if err := record.Decode(data, &e, leafFormat); err != nil {
		return nil, fmt.Errorf("leaf: %w", err)
	}
	l, err := decodeBody(e.Kind, e.Body, record.DecodeMembers)
	if err != nil {
		return nil, fmt.Errorf("leaf: %w", err)
	}
	again, err := Encode(l)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", record.ErrFormat, err)
	}
	if !bytes.Equal(again, data) {
		return nil, fmt.Errorf("leaf: %w: not as lethe writes it", record.ErrFormat)
	}
	return l, nil
}

// decodeSigned is Decode of leaves under this program's own checkpoint, in a quarter of the time: altered ones would
// not have that root.
func decodeSigned(data []byte) (Leaf, error) {
	var e envelope
	err := json.Unmarshal(data, &e)
	if err == nil && e.Format != leafFormat {
		err = fmt.Errorf("%w: found %.40q, want %q", record.ErrFormat, e.Format, leafFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("leaf: %w", err)
	}
	return decodeBody(e.Kind, e.Body, json.Unmarshal)
}

func decodeBody(kind Kind, body []byte, read func([]byte, any) error) (Leaf, error) {
	switch kind {
	case KindRequest:
		return decodeAs[Request](body, read)
	case KindTransition:
		return decodeAs[Transition](body, read)
	case KindFound:
		return decodeAs[Found](body, read)
	case KindOperator:
		return decodeAs[Operator](body, read)
	case KindReceipt:
		return decodeAs[Receipt](body, read)
	case KindSetup:
		return decodeAs[Setup](body, read)
	case KindSlice:
		return decodeAs[Slice](body, read)
	case KindCheckpoint:
		return decodeAs[Checkpoint](body, read)
	case KindAccess:
		return decodeAs[Access](body, read)
	default:
		return nil, fmt.Errorf("%w: kind %.20q is not known", record.ErrFormat, kind)
	}
}

func decodeAs[L Leaf](body []byte, read func([]byte, any) error) (Leaf, error) {
	var l L
	err := read(body, &l)
	return l, err
}
