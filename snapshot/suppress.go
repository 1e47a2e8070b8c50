package snapshot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Suppress remembers, by keyed hash, that the targets are erased: from now on
// no record that names one is taken, and features are 0 in those that are. It is durable when
// it returns. Only Lift undoes it. Errors: lethe.ErrTarget.
func (s *Store) Suppress(targets []lethe.Target) error {
	if err := lethe.CheckTargets(targets); err != nil {
		return err
	}
	var digests []lethe.Digest
	var subjects []lethe.SubjectUntil
	var redactions []lethe.Redaction
	for _, t := range targets {
		hash := s.staging.options.Secret.Suppressed(t)
		switch t.Kind {
		case lethe.SubjectTarget:
			subjects = append(subjects, lethe.SubjectUntil{Target: hash, Until: t.Until})
			continue
		case lethe.FeaturesTarget:
			redactions = append(redactions, lethe.Redaction{Target: hash, Columns: t.Columns})
		default:
		}
		digests = append(digests, hash)
	}
	if err := s.Marks().Redact(redactions); err != nil {
		return err
	}
	return SuppressHashes(s, digests, subjects...)
}

// SuppressHashes is Suppress by keyed hashes (lethe.Secret.Suppressed). Subjects are
// given with the last timestep of what goes; among the hashes those that are known are passed
// over.
func SuppressHashes(s *Store, hashes []lethe.Digest, subjects ...lethe.SubjectUntil) error {
	if err := suppressSubjects(s.staging, subjects); err != nil {
		return err
	}
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

// Lift takes records of these keyed hashes again; of some subjects what is later than a timestep
// alone. It is durable when it returns.
func (m Marks) Lift(hashes []lethe.Digest, still ...lethe.SubjectUntil) error {
	err := m.staging.Apply(func(w swapstore.Writer) error {
		for _, d := range hashes {
			if err := errors.Join(w.Delete(suppressedKey(d)), w.Delete(redactedKey(d))); err != nil {
				return err
			}
		}
		for _, subject := range still {
			value := binary.BigEndian.AppendUint64(nil, uint64(subject.Until))
			if err := w.Set(suppressedKey(subject.Target), value); err != nil {
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
		delete(m.staging.subjects, d)
	}
	m.staging.redacted.Drop(hashes)
	m.staging.redacts.Store(m.staging.redacted.Any())
	for _, subject := range still {
		m.staging.suppressed[subject.Target], m.staging.subjects[subject.Target] = struct{}{}, subject.Until
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

// Named returns those transactions and payments of which something is here that are asked for: rows, payments and
// labels that wait, and what graphs hold. It reads the graphs of all closed timesteps. The order is not told.
func (s *Store) Named(ctx context.Context, is func(lethe.Target) bool) ([]lethe.Target, error) {
	n := named{is: is}
	err := scanAll(s.staging, n.staged)
	if err != nil {
		return nil, fmt.Errorf("what staging holds: %w", err)
	}
	for _, info := range s.Timesteps() {
		if info.State == lethe.Open {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		store, err := s.closed.Get(info.Timestep)
		if err == nil {
			err = store.EachName(
				func(id lethe.TransactionID) { n.about(id) },
				func(source, target lethe.TransactionID) { n.about(source, target) })
		}
		if err != nil {
			return nil, fmt.Errorf("names of timestep %d: %w", info.Timestep, err)
		}
	}
	return lethe.Distinct(n.found), nil
}

// named collects what is asked for.
type named struct {
	is    func(lethe.Target) bool
	found []lethe.Target
}

// about takes what is about a transaction, or both ends of a payment.
func (n *named) about(ids ...lethe.TransactionID) {
	all := lethe.Transactions(ids...)
	if len(ids) == 2 {
		all = append(all, lethe.PaymentBetween(ids[0], ids[1]))
	}
	for _, t := range all {
		if n.is(t) {
			n.found = append(n.found, t)
		}
	}
}

// staged takes an entry of staging.
func (n *named) staged(kind byte, value []byte) error {
	switch kind {
	case kindRow:
		r, err := stored.DecodeRow(value)
		n.about(r.ID)
		return err
	case kindCandidate:
		c, err := decodeCandidate(value)
		if err != nil {
			return err
		}
		return n.staged(kindRow, c.row)
	case kindPayment:
		p, err := decodePayment(value)
		n.about(p.source, p.target)
		return err
	case kindLabel:
		l, err := decodeLabel(value)
		n.about(l.id)
		return err
	default:
		return nil
	}
}

// isErased reports whether something that carries subjects goes with one of them.
func (s subjectIndex) isErased(t lethe.Timestep, subjects []string) bool {
	if len(s.subjects) == 0 {
		return false
	}
	for _, subject := range subjects {
		if until, found := s.subjects[s.options.Secret.SuppressedSubject(subject)]; found && t <= until {
			return true
		}
	}
	return false
}

// suppressSubjects remembers subjects and until when what carries them goes. A subject that
// is known goes until the later timestep.
func suppressSubjects(s *staging, list []lethe.SubjectUntil) error {
	var fresh []lethe.SubjectUntil
	for _, subject := range list {
		if known, found := s.subjects[subject.Target]; !found || known < subject.Until {
			fresh = append(fresh, subject)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	err := s.Apply(func(w swapstore.Writer) error {
		for _, subject := range fresh {
			value := binary.BigEndian.AppendUint64(nil, uint64(subject.Until))
			if err := w.Set(suppressedKey(subject.Target), value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("suppress %d subjects: %w", len(fresh), err)
	}
	for _, subject := range fresh {
		s.suppressed[subject.Target], s.subjects[subject.Target] = struct{}{}, subject.Until
	}
	return nil
}
