package view

import (
	"encoding/binary"
	"fmt"
	"math"

	"lethe"
	"lethe/internal/bytecursor"
	"lethe/internal/swapstore"
	"lethe/scoring"
)

const (
	finalFlag = 1 << iota
	lateFlag
)

// encodePrediction takes a third of the JSON's bytes: an erasure rewrites a million predictions.
func encodePrediction(p *scoring.Prediction) ([]byte, error) {
	var id lethe.Digest
	if err := id.UnmarshalText([]byte(p.ID)); err != nil {
		return nil, fmt.Errorf("%w: its id is no hash", scoring.ErrPrediction)
	}
	var flags byte
	if p.Final {
		flags |= finalFlag
	}
	if p.Late {
		flags |= lateFlag
	}
	out := append(make([]byte, 0, 160), flags)
	out = binary.BigEndian.AppendUint64(out, uint64(p.Timestep))
	out = binary.BigEndian.AppendUint64(out, math.Float64bits(p.Probability))
	out = binary.BigEndian.AppendUint64(out, math.Float64bits(p.Threshold))
	out = binary.BigEndian.AppendUint64(out, uint64(p.TrainedThrough))
	out = append(out, p.EnsembleVersion[:]...)
	out = append(out, id[:]...)
	out = appendText(out, p.Aggregation)
	return appendText(out, string(p.Transaction)), nil
}

func decodePrediction(value []byte) (*scoring.Prediction, error) {
	c := bytecursor.New(value, binary.BigEndian)
	p := new(scoring.Prediction)
	flags := c.Uint8()
	p.Final, p.Late = flags&finalFlag != 0, flags&lateFlag != 0
	p.Timestep = lethe.Timestep(c.Uint64())
	p.Probability, p.Threshold = math.Float64frombits(c.Uint64()), math.Float64frombits(c.Uint64())
	p.TrainedThrough = lethe.Timestep(c.Uint64())
	c.Bytes(p.EnsembleVersion[:])
	var id lethe.Digest
	c.Bytes(id[:])
	p.ID, p.Aggregation, p.Transaction = id.String(), c.Text(), lethe.TransactionID(c.Text())
	p.Class = scoring.Classify(p.Probability, p.Threshold)
	if err := c.Close(); err != nil {
		return nil, fmt.Errorf("%w: a prediction: %w", swapstore.ErrCorrupt, err)
	}
	return p, nil
}

func appendText(dst []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(text))), text...)
}

type node struct {
	id       lethe.TransactionID
	timestep lethe.Timestep
	label    lethe.Label
	payments []payment
}

// payment leads to the other end.
type payment struct {
	other name
	// from means that the other end paid, to that it was paid.
	from, to bool
}

const (
	fromFlag = 1 << iota
	toFlag
)

func (n node) encode() []byte {
	out := append(make([]byte, 0, 32+len(n.id)+(nameBytes+1)*len(n.payments)), byte(n.label))
	out = binary.BigEndian.AppendUint64(out, uint64(n.timestep))
	out = appendText(out, string(n.id))
	out = binary.BigEndian.AppendUint32(out, uint32(len(n.payments)))
	for _, p := range n.payments {
		var flags byte
		if p.from {
			flags |= fromFlag
		}
		if p.to {
			flags |= toFlag
		}
		out = append(append(out, flags), p.other[:]...)
	}
	return out
}

func decodeNode(value []byte) (n node, err error) {
	c := bytecursor.New(value, binary.BigEndian)
	n.label = lethe.Label(c.Uint8())
	n.timestep = lethe.Timestep(c.Uint64())
	n.id = lethe.TransactionID(c.Text())
	n.payments = make([]payment, c.Count(nameBytes+1))
	for i := range n.payments {
		p := &n.payments[i]
		flags := c.Uint8()
		p.from, p.to = flags&fromFlag != 0, flags&toFlag != 0
		c.Bytes(p.other[:])
	}
	if err := c.Close(); err != nil {
		return n, fmt.Errorf("%w: a transaction of a graph: %w", swapstore.ErrCorrupt, err)
	}
	return n, nil
}
