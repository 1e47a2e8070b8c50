package snapshot

import (
	"fmt"

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
	// Timestep and State are set if it is known.
	Timestep lethe.Timestep
	State    lethe.State
	// Features are set while its timestep is open; Load has those of a closed one.
	Features []float32
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
	return out, nil
}

func (s *staging) locate(id lethe.TransactionID) (Located, error) {
	l := Located{Pseudonym: s.options.Secret.Pseudonym(id), Suppressed: s.isSuppressed(id)}
	entry, known, err := lookup(s.Get, l.Pseudonym)
	if err != nil || !known {
		return l, err
	}
	l.Known, l.Timestep, l.State = true, entry.timestep, s.info(entry.timestep).State
	if l.State > lethe.Open {
		return l, nil
	}
	value, _, err := s.Get(timestepKey(kindRow, l.Timestep, l.Pseudonym))
	if err != nil {
		return l, err
	}
	r, err := decodeRow(value)
	l.Features = r.features
	return l, err
}

// Suppress remembers, by keyed hash, that the targets are erased: from now on
// no record that names one is taken. It is durable when it returns and is never
// undone. Errors: lethe.ErrTarget.
func (s *Store) Suppress(targets []lethe.Target) error {
	ids, err := lethe.TransactionsOf(targets)
	if err != nil {
		return err
	}
	digests := make([]lethe.Digest, len(ids))
	err = s.staging.Apply(func(w swapstore.Writer) error {
		for i, id := range ids {
			digests[i] = s.staging.options.Secret.Suppression(id)
			if err := w.Set(suppressedKey(digests[i]), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("suppress %d transactions: %w", len(ids), err)
	}
	for _, d := range digests {
		s.staging.suppressed[d] = struct{}{}
	}
	return nil
}

// isSuppressed reports whether the transaction is erased.
func (s *staging) isSuppressed(id lethe.TransactionID) bool {
	if len(s.suppressed) == 0 {
		return false
	}
	_, found := s.suppressed[s.options.Secret.Suppression(id)]
	return found
}
