package snapshot

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/snapshot/index"
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

// lacking bounds the payments, or the labels, that wait for missing transactions, so that a
// sender cannot fill the store with records that never join a graph. keys also holds entries
// whose transactions were not checked since they arrived; they are checked only when the bound is
// reached.
type lacking struct {
	kind byte
	most int
	keys map[string]struct{}
	// by maps transactions to the keys that name them, once the keys were checked; else it is nil.
	by map[lethe.Pseudonym][]string
}

func newLacking(kind byte, most int) *lacking {
	return &lacking{kind: kind, most: most, keys: make(map[string]struct{})}
}

// load adds the entries that staging holds.
func (l *lacking) load(s *staging) error {
	return s.Scan([]byte{l.kind}, func(key, _ []byte) error {
		if len(l.keys) >= l.most {
			if complete, err := isComplete(s.Get, key); err != nil || complete {
				return err
			}
		}
		l.keys[string(key)] = struct{}{}
		return nil
	})
}

// admits reports whether a new entry may be stored, and counts it. An entry whose transactions
// are all present is always admitted.
func (l *lacking) admits(b *Batch, key []byte) (bool, error) {
	if len(l.keys) >= l.most {
		if complete, err := isComplete(b.get, key); err != nil || complete {
			return complete, err
		}
		if err := l.look(b); err != nil {
			return false, err
		}
	}
	if len(l.keys) >= l.most {
		return false, nil
	}
	l.keys[string(key)] = struct{}{}
	if l.by != nil {
		l.index(string(key))
	}
	return true, nil
}

// look removes keys that staging no longer holds or whose transactions are present, unless by is
// current.
func (l *lacking) look(b *Batch) error {
	if l.by != nil {
		return nil
	}
	for key := range l.keys {
		_, found, err := b.get([]byte(key))
		complete := false
		if err == nil && found {
			complete, err = isComplete(b.get, []byte(key))
		}
		if err != nil {
			return err
		}
		if !found || complete {
			delete(l.keys, key)
		}
	}
	l.by = make(map[lethe.Pseudonym][]string)
	for key := range l.keys {
		l.index(key)
	}
	return nil
}

func (l *lacking) index(key string) {
	for rest := key[1+timestepBytes:]; len(rest) >= stored.PseudonymBytes; rest = rest[stored.PseudonymBytes:] {
		p := lethe.Pseudonym([]byte(rest[:stored.PseudonymBytes]))
		l.by[p] = append(l.by[p], key)
	}
}

// arrived removes the keys that are complete now that transaction p has arrived.
func (l *lacking) arrived(b *Batch, p lethe.Pseudonym) error {
	for _, key := range l.by[p] {
		complete, err := isComplete(b.get, []byte(key))
		if err != nil {
			return err
		}
		if complete {
			delete(l.keys, key)
		}
	}
	delete(l.by, p)
	return nil
}

// waitingChanged forces a new check, because staging changed otherwise than by arrivals.
func waitingChanged(s *staging) { s.payments.by, s.labels.by = nil, nil }

func (l *lacking) refusal(o Origin) Verdict {
	return refuse(o, ReasonTooManyWaiting, fmt.Sprintf("%d wait for transactions that have not come", l.most))
}

// isComplete reports whether all transactions that a payment or label names are in its timestep,
// according to get.
func isComplete(get func([]byte) ([]byte, bool, error), key []byte) (bool, error) {
	at, err := timestepOf(key)
	if err != nil {
		return false, err
	}
	for rest := key[1+timestepBytes:]; len(rest) >= stored.PseudonymBytes; rest = rest[stored.PseudonymBytes:] {
		p := lethe.Pseudonym(rest[:stored.PseudonymBytes])
		entry, known, err := index.Lookup(get, p)
		if err != nil {
			return false, err
		}
		if !known || entry.Timestep != at {
			return false, nil
		}
	}
	return true, nil
}

// room rejects a new payment or label if too many are waiting or it would begin a timestep over
// the bound.
func (b beginning) room(l *lacking, t lethe.Timestep, key []byte, o Origin) (Verdict, error) {
	if detail, refused := b.refused(t); refused {
		return refuse(o, ReasonTooManyOpen, detail), nil
	}
	admitted, err := l.admits(b.Batch, key)
	if err != nil {
		return Verdict{}, fmt.Errorf("timestep %d: what waits: %w", t, err)
	}
	if !admitted {
		return l.refusal(o), nil
	}
	return Verdict{}, nil
}

// storedLetter is a letter that the owner has not confirmed. About lists the transactions it
// names, so that erasing one of them finds it.
type storedLetter struct {
	about  []lethe.Pseudonym
	letter Letter
}

func (p storedLetter) encode() []byte {
	dst := stored.AppendPseudonyms([]byte{byte(len(p.about))}, p.about...)
	dst = stored.AppendString(stored.AppendString(dst, p.letter.Reason), p.letter.Detail)
	return appendOrigin(dst, p.letter.Origin)
}

// decodeLetter treats a letter without a reason as a withdrawal.
func decodeLetter(value []byte) (storedLetter, error) {
	c := stored.Over(value)
	p := storedLetter{about: make([]lethe.Pseudonym, c.Uint8())}
	for i := range p.about {
		c.Bytes(p.about[i][:])
	}
	p.letter.Reason, p.letter.Detail = c.Text(), c.Text()
	p.letter.Origin = originFrom(&c)
	p.letter.Withdrawn = p.letter.Reason == ""
	return p, c.Done("letter")
}

func appendOrigin(dst []byte, o Origin) []byte {
	dst = stored.AppendString(dst, o.Topic)
	dst = binary.BigEndian.AppendUint32(dst, uint32(o.Partition))
	dst = binary.BigEndian.AppendUint64(dst, uint64(o.Offset))
	dst = binary.BigEndian.AppendUint64(dst, uint64(o.TimeUnixMillis))
	dst = stored.AppendBlob(stored.AppendBlob(dst, o.Key), o.Value)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(o.Headers)))
	for _, h := range o.Headers {
		dst = stored.AppendBlob(stored.AppendString(dst, h.Key), h.Value)
	}
	return dst
}

func originFrom(c *stored.Cursor) Origin {
	o := Origin{
		Topic:          c.Text(),
		Partition:      int(c.Uint32()),
		Offset:         int64(c.Uint64()),
		TimeUnixMillis: int64(c.Uint64()),
		Key:            c.Blob(),
		Value:          c.Blob(),
	}
	for range c.Count(5) {
		o.Headers = append(o.Headers, Header{Key: c.Text(), Value: c.Blob()})
	}
	return o
}
