package snapshot

import (
	"bytes"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// Located is what a Store knows of one target, for planning an erasure.
type Located struct {
	Kind lethe.TargetKind
	// Pseudonym is that of a transaction, Payment those of a payment's ends.
	Pseudonym lethe.Pseudonym
	Payment   lethe.PseudonymPair
	// Suppressed reports whether it is erased, or being erased.
	Suppressed bool
	// Known reports whether the transaction itself is here; if it is not, there
	// may still be payments and labels that name it. A payment is known if it is in the
	// graph of a closed timestep.
	Known bool
	// Named reports whether a payment or label that is pending, or a refusal that is not
	// confirmed, names it, or is that of the payment. It is not asked for if all targets
	// are known.
	Named bool
	// Keys are those under which the stores hold a payment: what a search of their files
	// can look for.
	Keys [][]byte
	// Timestep and State are set if it is known.
	Timestep lethe.Timestep
	State    lethe.State
	// Shared reports whether a transaction that is not among the targets has the
	// same features.
	Shared bool
	// Rows are the features that are not in a closed timestep, which Load has: while
	// its timestep is open, or if a correction waits. While the number of features is
	// not known there may be several.
	Rows [][]float32
}

// RemovalOf is what the located are.
func RemovalOf(located []Located) lethe.Removal {
	r := lethe.Removal{Nodes: make(map[lethe.Pseudonym]bool), Payments: make(map[lethe.PseudonymPair]bool)}
	for _, l := range located {
		if l.Kind == lethe.PaymentTarget {
			r.Payments[l.Payment] = true
		} else {
			r.Nodes[l.Pseudonym] = true
		}
	}
	return r
}

// Locate tells where the targets are, in the order asked for. It changes
// nothing. Errors: lethe.ErrTarget.
func (s *Store) Locate(targets []lethe.Target) ([]Located, error) {
	if err := lethe.CheckTargets(targets); err != nil {
		return nil, err
	}
	out := make([]Located, len(targets))
	for i, target := range targets {
		var err error
		if target.Kind == lethe.PaymentTarget {
			out[i], err = locatePayment(s, target.Payment)
		} else {
			out[i], err = s.staging.locate(target.Transaction)
		}
		if err != nil {
			return nil, fmt.Errorf("locate target %d: %w", i, err)
		}
		out[i].Kind = target.Kind
		out[i].Suppressed = s.Suppresses(s.staging.options.Secret.Suppressed(target))
	}
	if err := s.staging.markShared(out); err != nil {
		return nil, fmt.Errorf("locate %d targets: %w", len(targets), err)
	}
	if err := s.staging.markNamed(out); err != nil {
		return nil, fmt.Errorf("locate %d targets: %w", len(targets), err)
	}
	return out, nil
}

// locatePayment tells whether a payment is in a graph: if it is, it is in that of its
// source.
func locatePayment(s *Store, p lethe.Payment) (Located, error) {
	secret := s.staging.options.Secret
	l := Located{Payment: lethe.PseudonymPair{Source: secret.Pseudonym(p.Source), Target: secret.Pseudonym(p.Target)}}
	entry, known, err := lookup(s.staging.Get, l.Payment.Source)
	if err != nil || !known || s.staging.info(entry.timestep).State == lethe.Open {
		return l, err
	}
	store, err := s.closed.get(entry.timestep)
	if err != nil {
		return l, err
	}
	key := pseudonymKey(kindEdge, l.Payment.Source, l.Payment.Target)
	if _, l.Known, err = store.Get(key); l.Known {
		l.Timestep, l.State = entry.timestep, s.staging.info(entry.timestep).State
		l.Keys = append(l.Keys, key)
	}
	return l, err
}

func (s *staging) locate(id lethe.TransactionID) (Located, error) {
	l := Located{Pseudonym: s.options.Secret.Pseudonym(id)}
	entry, known, err := lookup(s.Get, l.Pseudonym)
	if err != nil {
		return l, err
	}
	var rows [][]byte
	if known {
		value, found, err := s.Get(timestepKey(kindRow, entry.timestep, l.Pseudonym))
		if err != nil {
			return l, err
		}
		if found {
			rows = append(rows, value)
		}
	}
	err = widths{s}.candidates(l.Pseudonym, func(c candidate) error {
		entry, known, rows = c.entry, true, append(rows, c.row)
		return nil
	})
	if err != nil || !known {
		return l, err
	}
	l.Known, l.Timestep, l.State = true, entry.timestep, s.info(entry.timestep).State
	for _, value := range rows {
		r, err := decodeRow(value)
		if err != nil {
			return l, err
		}
		l.Rows = append(l.Rows, r.features)
	}
	return l, nil
}

// Suppress remembers, by keyed hash, that the targets are erased: from now on
// no record that names one is taken. It is durable when it returns. Only
// Lift undoes it. Errors: lethe.ErrTarget.
func (s *Store) Suppress(targets []lethe.Target) error {
	if err := lethe.CheckTargets(targets); err != nil {
		return err
	}
	digests := make([]lethe.Digest, len(targets))
	for i, t := range targets {
		digests[i] = s.staging.options.Secret.Suppressed(t)
	}
	return s.SuppressHashes(digests)
}

// SuppressHashes is Suppress by keyed hashes (lethe.Secret.Suppressed).
func (s *Store) SuppressHashes(hashes []lethe.Digest) error {
	var fresh []lethe.Digest
	for _, d := range hashes {
		if _, known := s.staging.suppressed[d]; !known {
			fresh = append(fresh, d)
		}
	}
	if len(fresh) == 0 {
		// A batch that was begun before must not outlive an erasure.
		s.staging.epoch++
		return nil
	}
	err := s.staging.Apply(func(w swapstore.Writer) error {
		for _, d := range fresh {
			if err := w.Set(suppressedKey(d), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("suppress %d targets: %w", len(fresh), err)
	}
	for _, d := range fresh {
		s.staging.suppressed[d] = struct{}{}
	}
	return nil
}

// Lift takes records of these keyed hashes again. It is durable when it returns.
func (m Marks) Lift(hashes []lethe.Digest) error {
	err := m.staging.Apply(func(w swapstore.Writer) error {
		for _, d := range hashes {
			if err := w.Delete(suppressedKey(d)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("lift the suppression of %d transactions: %w", len(hashes), err)
	}
	for _, d := range hashes {
		delete(m.staging.suppressed, d)
	}
	return nil
}

// Suppresses reports whether the target with this keyed hash is erased.
func (s *Store) Suppresses(hash lethe.Digest) bool {
	_, found := s.staging.suppressed[hash]
	return found
}

// isSuppressed reports whether one of the transactions is erased, or, of two, the payment
// from the first to the second.
func (s *staging) isSuppressed(about []lethe.TransactionID) bool {
	if len(s.suppressed) == 0 {
		return false
	}
	is := func(hash lethe.Digest) bool {
		_, found := s.suppressed[hash]
		return found
	}
	return slices.ContainsFunc(about, func(id lethe.TransactionID) bool { return is(s.options.Secret.Suppression(id)) }) ||
		len(about) == 2 && is(s.options.Secret.SuppressedPayment(about[0], about[1]))
}

// markNamed notes which transactions are named by what is pending or refused, and which
// payments are pending or refused. A transaction that never came may be one end of a
// payment, or have a label.
func (s *staging) markNamed(located []Located) error {
	if !slices.ContainsFunc(located, func(l Located) bool { return !l.Known }) {
		return nil
	}
	wanted := RemovalOf(located).Payments
	named, keys := make(map[lethe.Pseudonym]bool), make(map[lethe.PseudonymPair][][]byte)
	note := func(key []byte, about []lethe.Pseudonym) {
		for _, p := range about {
			named[p] = true
		}
		if len(about) != 2 {
			return
		}
		if pair := (lethe.PseudonymPair{Source: about[0], Target: about[1]}); wanted[pair] {
			keys[pair] = append(keys[pair], bytes.Clone(key))
		}
	}
	for _, kind := range []byte{kindPayment, kindLabel} {
		err := s.scanThrough(kind, maxTimestep, func(e staged) error {
			note(e.key, e.about)
			return nil
		})
		if err != nil {
			return err
		}
	}
	err := s.Scan([]byte{kindLetter}, func(key, value []byte) error {
		l, err := decodeLetter(value)
		note(key, l.about)
		return err
	})
	for i := range located {
		l := &located[i]
		if l.Kind != lethe.PaymentTarget {
			l.Named = named[l.Pseudonym]
			continue
		}
		l.Named = len(keys[l.Payment]) > 0
		for _, key := range keys[l.Payment] {
			if key[0] == kindPayment {
				l.Keys = append(l.Keys, key)
			}
		}
	}
	return err
}
