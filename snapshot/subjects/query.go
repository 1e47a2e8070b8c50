package subjects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"lethe"
	"lethe/internal/normalise"
	"lethe/snapshot/stored"
)

// Carried are the carriers of a subject, with the index keys. Several lists the transactions among them that carry
// other subjects too.
type Carried struct {
	By      []lethe.Target
	Several []lethe.TransactionID
	Keys    [][]byte
}

// Carried returns the carriers of a subject up to a timestep.
func (x Index) Carried(subject string, until lethe.Timestep) (l Carried, err error) {
	prefix := stored.Key(Kind, x.secret.SubjectPseudonym(subject))
	err = x.store.Scan(prefix, func(key, value []byte) error {
		c, err := decodeCarrier(key, value)
		if err != nil || c.at > until {
			return err
		}
		l.By = append(l.By, c.target())
		l.Keys = append(l.Keys, bytes.Clone(key))
		if len(c.about) == 1 {
			several, err := x.carriesOthers(c, prefix)
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
	return l, nil
}

// Alike returns those of some subjects of which another spelling is carried, up to the timestep that they name.
func (x Index) Alike(ctx context.Context, subjects []lethe.Target) (out []lethe.Target, err error) {
	const never = math.MaxInt64
	secret := x.secret
	first := make(map[lethe.Pseudonym]lethe.Timestep) // by the folded form: the first timestep that carries one
	folded := make([]lethe.Pseudonym, len(subjects))
	for i, t := range subjects {
		folded[i] = secret.SubjectPseudonym(normalise.Folded(t.Subject))
		first[folded[i]] = never
	}
	err = x.store.Scan([]byte{Kind}, func(key, value []byte) error {
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
		if at := first[folded[i]]; at < never && at <= t.Until {
			out = append(out, t)
		}
	}
	return out, nil
}

// carriesOthers reports whether a transaction carries a subject other than that of the prefix.
func (x Index) carriesOthers(c carrier, prefix []byte) (others bool, err error) {
	own := stored.Key(kindCarries, c.about[0])
	err = x.store.Scan(own, func(key, _ []byte) error {
		index := key[len(own):]
		transaction := len(index) == 1+stored.PseudonymBytes+timestepBytes+stored.PseudonymBytes
		others = others || transaction && !bytes.HasPrefix(index, prefix)
		return nil
	})
	return others, err
}

// KeysOf returns the entries of both indexes that an erasure deletes.
func (x Index) KeysOf(gone stored.Erasure) (keys [][]byte, err error) {
	take := func(p lethe.Pseudonym) error {
		own := stored.Key(kindCarries, p)
		return x.store.Scan(own, func(key, _ []byte) error {
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

// Of returns keyed hashes (lethe.Secret.HeldSubject) of the subjects carried by the records that an erasure of the
// target deletes: for a transaction, its subjects and those of its payments; for a payment, only its own; for
// features, those of their transaction. For a subject it returns the subject itself, not those of its carriers.
func (x Index) Of(t lethe.Target) (out []lethe.Digest, err error) {
	secret := x.secret
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
	err = x.store.Scan(own, func(key, _ []byte) error {
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
