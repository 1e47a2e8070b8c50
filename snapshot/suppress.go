package snapshot

import (
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
)

// Suppress remembers, by keyed hash, that the transactions are erased: from
// now on no record that names one is taken. It is durable when it returns and
// is never undone.
func (s *Store) Suppress(ids []lethe.TransactionID) error {
	s.epoch++
	digests := make([]lethe.Digest, len(ids))
	for i, id := range ids {
		digests[i] = s.options.Secret.Suppression(id)
	}
	err := s.staging.Apply(func(w swapstore.Writer) error {
		for _, d := range digests {
			if err := w.Set(suppressedKey(d), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("suppress %d transactions: %w", len(ids), err)
	}
	for _, d := range digests {
		s.suppressed[d] = struct{}{}
	}
	return nil
}

// IsSuppressed reports whether the transaction is erased.
func (s *Store) IsSuppressed(id lethe.TransactionID) bool {
	if len(s.suppressed) == 0 {
		return false
	}
	_, found := s.suppressed[s.options.Secret.Suppression(id)]
	return found
}
