package snapshot

import (
	"encoding/binary"

	"lethe"
	"lethe/snapshot/stored"
)

// judgement is the verdict on a payment or label that is in no graph. It is the last part of the
// stored value.
type judgement struct {
	// letter is the reason of the dead letter that is out, with its detail, or empty.
	letter string
	// judged is set once the timestep has closed (payments) or settled (labels) and the entry was
	// judged since it was last accepted.
	judged bool
}

func (s judgement) appendTo(dst []byte) []byte {
	if dst = stored.AppendString(dst, s.letter); s.judged {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func judgementFrom(c *stored.Cursor) judgement { return judgement{letter: c.Text(), judged: c.Flag()} }

// isJudged reads the judgement at the end of a stored value.
func isJudged(value []byte) bool { return len(value) > 0 && value[len(value)-1] == 1 }

// pendingPayment is a payment that is in no graph: its timestep is open, or an end is missing.
type pendingPayment struct {
	source, target lethe.TransactionID
	origin         Origin
	judgement
}

func (p pendingPayment) encode() []byte {
	dst := stored.AppendString(stored.AppendString(nil, string(p.source)), string(p.target))
	return p.appendTo(appendOrigin(dst, p.origin))
}

func decodePayment(value []byte) (pendingPayment, error) {
	c := stored.Over(value)
	p := pendingPayment{
		source: lethe.TransactionID(c.Text()),
		target: lethe.TransactionID(c.Text()),
		origin: originFrom(&c),
	}
	p.judgement = judgementFrom(&c)
	return p, c.Done("payment")
}

// pendingLabel is a label that is not in a graph yet.
type pendingLabel struct {
	label  lethe.Label
	id     lethe.TransactionID
	origin Origin
	judgement
}

func (p pendingLabel) encode() []byte {
	return p.appendTo(appendOrigin(stored.AppendString([]byte{byte(p.label)}, string(p.id)), p.origin))
}

func decodeLabel(value []byte) (pendingLabel, error) {
	c := stored.Over(value)
	p := pendingLabel{label: lethe.Label(c.Uint8()), id: lethe.TransactionID(c.Text()), origin: originFrom(&c)}
	p.judgement = judgementFrom(&c)
	return p, c.Done("label")
}

func appendOrigin(dst []byte, o Origin) []byte {
	dst = stored.AppendString(dst, o.Topic)
	dst = binary.BigEndian.AppendUint32(dst, uint32(o.Partition))
	dst = binary.BigEndian.AppendUint64(dst, uint64(o.Offset))
	dst = binary.BigEndian.AppendUint64(dst, uint64(o.TimeUnixMillis))
	return stored.AppendBlob(stored.AppendBlob(dst, o.Key), o.Value)
}

func originFrom(c *stored.Cursor) Origin {
	return Origin{
		Topic:          c.Text(),
		Partition:      int(c.Uint32()),
		Offset:         int64(c.Uint64()),
		TimeUnixMillis: int64(c.Uint64()),
		Key:            c.Blob(),
		Value:          c.Blob(),
	}
}
