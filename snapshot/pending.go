package snapshot

import (
	"encoding/binary"

	"lethe"
)

// pendingPayment is a payment until its timestep closes.
type pendingPayment struct {
	source, target lethe.TransactionID
	origin         Origin
}

func (p pendingPayment) encode() []byte {
	dst := appendString(appendString(nil, string(p.source)), string(p.target))
	return appendOrigin(dst, p.origin)
}

func decodePayment(value []byte) (pendingPayment, error) {
	c := cursorOver(value)
	p := pendingPayment{
		source: lethe.TransactionID(c.Text()),
		target: lethe.TransactionID(c.Text()),
		origin: c.origin(),
	}
	return p, c.close("payment")
}

// pendingLabel is a label until its timestep settles.
type pendingLabel struct {
	label  lethe.Label
	id     lethe.TransactionID
	origin Origin
}

func (p pendingLabel) encode() []byte {
	return appendOrigin(appendString([]byte{byte(p.label)}, string(p.id)), p.origin)
}

func decodeLabel(value []byte) (pendingLabel, error) {
	c := cursorOver(value)
	p := pendingLabel{label: lethe.Label(c.Uint8()), id: lethe.TransactionID(c.Text()), origin: c.origin()}
	return p, c.close("label")
}

// storedRefusal is a refusal until the owner confirms it. About lists the
// transactions it names, so that erasing one of them finds it.
type storedRefusal struct {
	about   []lethe.Pseudonym
	refusal Refusal
}

func (p storedRefusal) encode() []byte {
	dst := appendPseudonyms([]byte{byte(len(p.about))}, p.about)
	dst = appendString(appendString(dst, p.refusal.Reason), p.refusal.Detail)
	return appendOrigin(dst, p.refusal.Origin)
}

func decodeRefusal(value []byte) (storedRefusal, error) {
	c := cursorOver(value)
	p := storedRefusal{about: make([]lethe.Pseudonym, c.Uint8())}
	for i := range p.about {
		c.Bytes(p.about[i][:])
	}
	p.refusal.Reason, p.refusal.Detail = c.Text(), c.Text()
	p.refusal.Origin = c.origin()
	return p, c.close("refusal")
}

func appendOrigin(dst []byte, o Origin) []byte {
	dst = appendString(dst, o.Topic)
	dst = binary.BigEndian.AppendUint32(dst, uint32(o.Partition))
	dst = binary.BigEndian.AppendUint64(dst, uint64(o.Offset))
	dst = binary.BigEndian.AppendUint64(dst, uint64(o.TimeUnixMillis))
	dst = appendBlob(appendBlob(dst, o.Key), o.Value)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(o.Headers)))
	for _, h := range o.Headers {
		dst = appendBlob(appendString(dst, h.Key), h.Value)
	}
	return dst
}

func (c *cursor) origin() Origin {
	o := Origin{
		Topic:          c.Text(),
		Partition:      int(c.Uint32()),
		Offset:         int64(c.Uint64()),
		TimeUnixMillis: int64(c.Uint64()),
		Key:            c.blob(),
		Value:          c.blob(),
	}
	for range c.Count(5) {
		o.Headers = append(o.Headers, Header{Key: c.Text(), Value: c.blob()})
	}
	return o
}
