package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/normalise"
	"lethe/internal/swapstore"
	"lethe/snapshot/index"
	"lethe/snapshot/stored"
)

// Subjects are stored as pseudonyms in two indexes next to that of transactions: from a subject
// to its carriers, and from a carrier to its subjects. A subject that one record names stays
// attached to the transaction or payment whatever later records contain, so that the result does
// not depend on their order.

// carrier is a transaction or a payment that carries subjects.
type carrier struct {
	at lethe.Timestep
	// about is the transaction, or both ends of the payment; ids are their ids.
	about []lethe.Pseudonym
	ids   []lethe.TransactionID
	// folded is the pseudonym of the subject's folded form (normalise.Folded), or zero if the subject is in that form.
	folded lethe.Pseudonym
}

// key is the carrier's key in the index by subject.
func (c carrier) key(subject lethe.Pseudonym) []byte {
	key := binary.BigEndian.AppendUint64(stored.Key(kindSubject, subject), uint64(c.at))
	return stored.AppendPseudonyms(key, c.about...)
}

func decodeCarrier(key, value []byte) (c carrier, err error) {
	k, v := stored.Over(key), stored.Over(value)
	k.Take(1 + stored.PseudonymBytes)
	c.at = lethe.Timestep(k.Uint64())
	for k.Left() >= stored.PseudonymBytes {
		var p lethe.Pseudonym
		k.Bytes(p[:])
		c.about, c.ids = append(c.about, p), append(c.ids, lethe.TransactionID(v.Text()))
	}
	if v.Left() > 0 {
		v.Bytes(c.folded[:])
	}
	if err := k.Done("key of a carrier"); err != nil {
		return c, err
	}
	return c, v.Done("carrier")
}

// target is what an erasure of the carrier erases.
func (c carrier) target() lethe.Target {
	if len(c.ids) == 2 {
		return lethe.PaymentBetween(c.ids[0], c.ids[1])
	}
	return lethe.Transactions(c.ids...)[0]
}

// carry stores that a carrier carries subjects.
func (b *Batch) carry(c carrier, subjects []string) {
	if len(subjects) == 0 {
		return
	}
	var ids []byte
	for _, id := range c.ids {
		ids = stored.AppendString(ids, string(id))
	}
	secret := b.staging.options.Secret
	for _, subject := range subjects {
		value := slices.Clip(ids)
		if folded := normalise.Folded(subject); folded != subject {
			p := secret.SubjectPseudonym(folded)
			value = append(value, p[:]...)
		}
		key := c.key(secret.SubjectPseudonym(subject))
		b.set(key, value)
		// From both ends, because the payment is erased with either.
		b.set(append(stored.Key(kindCarries, c.about[0]), key...), []byte{})
		if len(c.about) == 2 {
			b.set(append(stored.Key(kindCarries, c.about[1]), key...), []byte{})
		}
	}
}

// Carry stores that transactions and payments carry a subject; it is then deleted with any of them. It is durable
// when it returns.
func (m Marks) Carry(subject lethe.Target, targets []lethe.Target) error {
	b := Batch{staging: m.staging, writes: make(map[string][]byte)}
	secret := m.staging.options.Secret
	for _, t := range targets {
		ids := []lethe.TransactionID{t.Transaction}
		if t.Kind == lethe.PaymentTarget {
			ids = []lethe.TransactionID{t.Payment.Source, t.Payment.Target}
		}
		c := carrier{ids: ids} // timestep 0, so never later than what is erased
		for _, id := range ids {
			c.about = append(c.about, secret.Pseudonym(id))
		}
		b.carry(c, []string{subject.Subject})
	}
	err := m.staging.Apply(func(w swapstore.Writer) error {
		for _, key := range slices.Sorted(maps.Keys(b.writes)) {
			w.Set([]byte(key), b.writes[key])
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("what carries a subject: %w", err)
	}
	return nil
}

// wouldTake reports whether a transaction would be accepted, or was accepted, if none of its
// subjects were erased: a rejected transaction carries nothing.
func (b *Batch) wouldTake(tr lethe.Transaction) (bool, error) {
	if b.fits(len(tr.Features), Origin{}).Outcome != "" || b.arrival(tr.Timestep).tooFar {
		return false, nil
	}
	entry, known, err := index.Lookup(b.get, b.names.Pseudonym(tr.ID))
	if err != nil {
		return false, fmt.Errorf("timestep %d: transaction: %w", tr.Timestep, err)
	}
	return !known || entry.Timestep == tr.Timestep, nil
}

// subjectIndex queries the subject indexes of staging.
type subjectIndex struct{ *staging }

// carried returns what carries a subject up to a timestep, with the index keys. Several lists the
// transactions among them that carry other subjects too.
func (s subjectIndex) carried(subject string, until lethe.Timestep) (l Located, err error) {
	prefix := stored.Key(kindSubject, s.options.Secret.SubjectPseudonym(subject))
	err = s.Scan(prefix, func(key, value []byte) error {
		c, err := decodeCarrier(key, value)
		if err != nil || c.at > until {
			return err
		}
		l.Carried = append(l.Carried, c.target())
		l.Keys = append(l.Keys, bytes.Clone(key))
		if len(c.about) == 1 {
			several, err := s.carriesOthers(c, prefix)
			if several {
				l.Several = append(l.Several, c.ids[0])
			}
			return err
		}
		return nil
	})
	if err != nil {
		return l, fmt.Errorf("what carries a subject: %w", err)
	}
	l.Known, l.Pseudonym = len(l.Carried) > 0, s.options.Secret.SubjectPseudonym(subject)
	return l, nil
}

// SubjectsAlike returns those of some subjects of which another spelling is carried, up to the timestep that they name.
func (m Marks) SubjectsAlike(ctx context.Context, subjects []lethe.Target) (out []lethe.Target, err error) {
	secret := m.staging.options.Secret
	first := make(map[lethe.Pseudonym]lethe.Timestep) // by the folded form: the first timestep that carries one
	folded := make([]lethe.Pseudonym, len(subjects))
	for i, t := range subjects {
		folded[i] = secret.SubjectPseudonym(normalise.Folded(t.Subject))
		first[folded[i]] = maxTimestep
	}
	err = m.staging.Scan([]byte{kindSubject}, func(key, value []byte) error {
		c, err := decodeCarrier(key, value)
		of := c.folded
		if of == (lethe.Pseudonym{}) {
			copy(of[:], key[1:])
		}
		if known, wanted := first[of]; wanted {
			first[of] = min(known, c.at)
		}
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return nil, fmt.Errorf("subjects of other spellings: %w", err)
	}
	for i, t := range subjects {
		if at := first[folded[i]]; at < maxTimestep && at <= t.Until {
			out = append(out, t)
		}
	}
	return out, nil
}

// carriesOthers reports whether a transaction carries a subject other than that of the prefix.
func (s subjectIndex) carriesOthers(c carrier, prefix []byte) (others bool, err error) {
	own := stored.Key(kindCarries, c.about[0])
	err = s.Scan(own, func(key, _ []byte) error {
		index := key[len(own):]
		transaction := len(index) == 1+stored.PseudonymBytes+timestepBytes+stored.PseudonymBytes
		others = others || transaction && !bytes.HasPrefix(index, prefix)
		return nil
	})
	return others, err
}

// subjectKeysOf returns the entries of both indexes that an erasure deletes.
func subjectKeysOf(s *staging, gone stored.Erasure) (keys [][]byte, err error) {
	take := func(p lethe.Pseudonym) error {
		own := stored.Key(kindCarries, p)
		return s.Scan(own, func(key, _ []byte) error {
			index := bytes.Clone(key[len(own):])
			about, err := stored.Pseudonyms(index, 1+stored.PseudonymBytes+timestepBytes,
				(len(index)-1-stored.PseudonymBytes-timestepBytes)/stored.PseudonymBytes)
			if err != nil || !gone.Names(about) {
				return err
			}
			keys = append(keys, index)
			for _, end := range about {
				keys = append(keys, append(stored.Key(kindCarries, end), index...))
			}
			return nil
		})
	}
	for p := range gone.Nodes {
		if err := take(p); err != nil {
			return nil, err
		}
	}
	for p := range gone.Payments {
		if err := take(p.Source); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// SubjectsOf returns keyed hashes (lethe.Secret.HeldSubject) of the subjects carried by what an erasure of the
// target deletes: for a transaction, its subjects and those of its payments; for a payment, only its own; for
// features, those of their transaction. For a subject it returns the subject itself, not those of its carriers.
func (m Marks) SubjectsOf(t lethe.Target) (out []lethe.Digest, err error) {
	secret := m.staging.options.Secret
	of, about := secret.Pseudonym(t.Transaction), 0
	switch t.Kind {
	case lethe.SubjectTarget:
		return []lethe.Digest{secret.HeldSubject(secret.SubjectPseudonym(t.Subject))}, nil
	case lethe.PaymentTarget:
		of, about = secret.Pseudonym(t.Payment.Source), 2
	case lethe.FeaturesTarget:
		about = 1
	default:
	}
	own := stored.Key(kindCarries, of)
	err = m.staging.Scan(own, func(key, _ []byte) error {
		index := stored.Over(key[len(own)+1:])
		var subject, first, last lethe.Pseudonym
		index.Bytes(subject[:])
		index.Take(timestepBytes)
		ends := index.Left() / stored.PseudonymBytes
		index.Bytes(first[:])
		if ends == 2 {
			index.Bytes(last[:])
		}
		if err := index.Done("key of what is carried"); err != nil {
			return err
		}
		payment := about == 2 && (first != of || last != secret.Pseudonym(t.Payment.Target))
		if about == 0 || about == ends && !payment {
			out = append(out, secret.HeldSubject(subject))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("subjects of a target: %w", err)
	}
	return out, nil
}
