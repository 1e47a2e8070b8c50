package snapshot

import (
	"encoding/binary"

	"lethe"
)

// judgement is how a payment or label that is in no graph was judged. It ends their
// stored values.
type judgement struct {
	// letter is the reason of the dead letter that is out, or empty.
	letter string
	// judged is unset until the timestep has closed, or settled, and what was taken
	// since has been looked at.
	judged bool
}

func (s judgement) appendTo(dst []byte) []byte {
	if dst = appendString(dst, s.letter); s.judged {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func (c *cursor) judgement() judgement { return judgement{letter: c.Text(), judged: c.Flag()} }

// isJudged reads the judgement at the end of a stored value.
func isJudged(value []byte) bool { return len(value) > 0 && value[len(value)-1] == 1 }

// pendingPayment is a payment that is in no graph: because its timestep is open, or
// because it lacks an end.
type pendingPayment struct {
	source, target lethe.TransactionID
	origin         Origin
	judgement
}

func (p pendingPayment) encode() []byte {
	dst := appendString(appendString(nil, string(p.source)), string(p.target))
	return p.appendTo(appendOrigin(dst, p.origin))
}

func decodePayment(value []byte) (pendingPayment, error) {
	c := cursorOver(value)
	p := pendingPayment{
		source: lethe.TransactionID(c.Text()),
		target: lethe.TransactionID(c.Text()),
		origin: c.origin(),
	}
	p.judgement = c.judgement()
	return p, c.close("payment")
}

// pendingLabel is a label that no graph has.
type pendingLabel struct {
	label  lethe.Label
	id     lethe.TransactionID
	origin Origin
	judgement
}

func (p pendingLabel) encode() []byte {
	return p.appendTo(appendOrigin(appendString([]byte{byte(p.label)}, string(p.id)), p.origin))
}

func decodeLabel(value []byte) (pendingLabel, error) {
	c := cursorOver(value)
	p := pendingLabel{label: lethe.Label(c.Uint8()), id: lethe.TransactionID(c.Text()), origin: c.origin()}
	p.judgement = c.judgement()
	return p, c.close("label")
}

// storedLetter is a letter until the owner confirms it. About lists the
// transactions it names, so that erasing one of them finds it.
type storedLetter struct {
	about  []lethe.Pseudonym
	letter Letter
}

func (p storedLetter) encode() []byte {
	dst := appendPseudonyms([]byte{byte(len(p.about))}, p.about)
	dst = appendString(appendString(dst, p.letter.Reason), p.letter.Detail)
	return appendOrigin(dst, p.letter.Origin)
}

// decodeLetter takes a letter without a reason for one that is withdrawn.
func decodeLetter(value []byte) (storedLetter, error) {
	c := cursorOver(value)
	p := storedLetter{about: make([]lethe.Pseudonym, c.Uint8())}
	for i := range p.about {
		c.Bytes(p.about[i][:])
	}
	p.letter.Reason, p.letter.Detail = c.Text(), c.Text()
	p.letter.Origin = c.origin()
	p.letter.Withdrawn = p.letter.Reason == ""
	return p, c.close("letter")
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
