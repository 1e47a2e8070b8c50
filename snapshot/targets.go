package snapshot

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// Located is what a Store knows of one target, for planning an erasure.
type Located struct {
	Pseudonym lethe.Pseudonym
	// Suppressed reports whether it is erased, or being erased.
	Suppressed bool
	// Known reports whether the transaction itself is here; if it is not, there
	// may still be payments and labels that name it.
	Known bool
	// Named reports whether a payment or label that is pending, or a refusal that is not
	// confirmed, names it. It is not asked for if all targets are known.
	Named bool
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

// Locate tells where the targets are, in the order asked for. It changes
// nothing. Errors: lethe.ErrTarget.
func (s *Store) Locate(targets []lethe.Target) ([]Located, error) {
	ids, err := lethe.TransactionsOf(targets)
	if err != nil {
		return nil, err
	}
	out := make([]Located, len(ids))
	for i, id := range ids {
		if out[i], err = s.staging.locate(id); err != nil {
			return nil, fmt.Errorf("locate target %d: %w", i, err)
		}
	}
	if err := s.staging.markShared(out); err != nil {
		return nil, fmt.Errorf("locate %d targets: %w", len(ids), err)
	}
	if err := s.staging.markNamed(out); err != nil {
		return nil, fmt.Errorf("locate %d targets: %w", len(ids), err)
	}
	return out, nil
}

func (s *staging) locate(id lethe.TransactionID) (Located, error) {
	l := Located{Pseudonym: s.options.Secret.Pseudonym(id), Suppressed: s.isSuppressed(id)}
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
	ids, err := lethe.TransactionsOf(targets)
	if err != nil {
		return err
	}
	digests := make([]lethe.Digest, len(ids))
	for i, id := range ids {
		digests[i] = s.staging.options.Secret.Suppression(id)
	}
	return s.SuppressHashes(digests)
}

// SuppressHashes is Suppress by keyed hashes (lethe.Secret.Suppression).
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
		return fmt.Errorf("suppress %d transactions: %w", len(fresh), err)
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

// Suppresses reports whether the transaction with this keyed hash is erased.
func (s *Store) Suppresses(hash lethe.Digest) bool {
	_, found := s.staging.suppressed[hash]
	return found
}

// isSuppressed reports whether the transaction is erased.
func (s *staging) isSuppressed(id lethe.TransactionID) bool {
	if len(s.suppressed) == 0 {
		return false
	}
	_, found := s.suppressed[s.options.Secret.Suppression(id)]
	return found
}

// markNamed notes which transactions are named by what is pending or refused. A
// transaction that never came may be one end of a payment, or have a label.
func (s *staging) markNamed(located []Located) error {
	if !slices.ContainsFunc(located, func(l Located) bool { return !l.Known }) {
		return nil
	}
	named := make(map[lethe.Pseudonym]bool)
	note := func(about []lethe.Pseudonym) {
		for _, p := range about {
			named[p] = true
		}
	}
	for _, kind := range []byte{kindPayment, kindLabel} {
		err := s.scanThrough(kind, maxTimestep, func(e staged) error {
			note(e.about)
			return nil
		})
		if err != nil {
			return err
		}
	}
	err := s.Scan([]byte{kindLetter}, func(_, value []byte) error {
		l, err := decodeLetter(value)
		note(l.about)
		return err
	})
	for i := range located {
		located[i].Named = named[located[i].Pseudonym]
	}
	return err
}
