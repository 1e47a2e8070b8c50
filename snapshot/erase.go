package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// Erase removes the targets in whatever state their timesteps are: their rows,
// labels, assignments, index entries and content hashes, every payment that
// names them, and whatever of them is pending or awaits confirmation. Every
// store concerned is written anew and the old files are unlinked, so that when
// Erase returns nil, no file of the store holds a byte of them but the keyed
// hash by which they stay suppressed (Erase suppresses them first). A closed or
// settled timestep that held one has a new revision then.
//
// It is idempotent: after an error or a crash, call it again with the same
// targets; a timestep that was done before keeps its revision. What was there
// must be asked before, with Locate and Load. Errors: lethe.ErrTarget, those of
// the context and of the file system.
func (s *Store) Erase(ctx context.Context, targets []lethe.Target) error {
	if err := s.Suppress(targets); err != nil {
		return err
	}
	located, err := s.Locate(targets)
	if err != nil {
		return err
	}
	gone := make(erasure, len(located))
	timesteps := map[lethe.Timestep]struct{}{}
	for _, l := range located {
		gone[l.Pseudonym] = true
		if l.State > lethe.Open {
			timesteps[l.Timestep] = struct{}{}
		}
	}
	for _, t := range slices.Sorted(maps.Keys(timesteps)) {
		if err := s.eraseFrom(ctx, t, gone); err != nil {
			return fmt.Errorf("erase from timestep %d: %w", t, err)
		}
	}
	if err := s.closed.removeUnlisted(s.isListed); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if err := s.staging.erase(ctx, gone); err != nil {
		return fmt.Errorf("erase from staging: %w", err)
	}
	return nil
}

// eraseFrom erases from a closed timestep. The note in staging lets Open take
// the revision over after a crash.
func (s *Store) eraseFrom(ctx context.Context, t lethe.Timestep, gone erasure) error {
	err := s.staging.Apply(func(w swapstore.Writer) error { return w.Set(timestepKey(kindRewriting, t), nil) })
	if err != nil {
		return err
	}
	store, err := s.closed.get(t)
	if err != nil {
		return err
	}
	m, err := store.erase(ctx, gone)
	if err != nil {
		// A store whose switch is in doubt has to be opened afresh.
		return errors.Join(err, s.closed.close(t))
	}
	s.staging.infos[t] = m.applyTo(s.staging.infos[t])
	return nil
}

// erasure is a set of transactions to erase.
type erasure map[lethe.Pseudonym]bool

// names reports whether one of the transactions is to go.
func (e erasure) names(about []lethe.Pseudonym) bool {
	return slices.ContainsFunc(about, func(p lethe.Pseudonym) bool { return e[p] })
}

// isIn reports whether one of the transactions at the end of a key is to go.
func (e erasure) isIn(key []byte, prefix int) (bool, error) {
	about, err := pseudonymsAfter(key, prefix, (len(key)-prefix)/pseudonymBytes)
	return e.names(about), err
}

// erase writes the store anew without the transactions, under a new revision if
// it held any, and returns its description.
func (s graphStore) erase(ctx context.Context, gone erasure) (meta, error) {
	m, err := s.meta()
	if err != nil {
		return m, err
	}
	revision := m.revision
	for p := range gone {
		_, found, err := s.Get(pseudonymKey(kindNode, p))
		if err != nil {
			return m, err
		}
		if found {
			m.nodes--
			m.revision = revision + 1
		}
	}
	m.payments, m.labelled = 0, 0
	// Keys come in the order payments, assignments, description, rows, so that the
	// description's counts are known when it is due.
	err = s.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			if drop, err := gone.isIn(key, 1); err != nil || drop {
				return err
			}
			switch key[0] {
			case kindEdge:
				m.payments++
			case kindAssigned:
				label, _, err := decodeAssigned(value)
				if err != nil {
					return err
				}
				if label != lethe.Unknown {
					m.labelled++
				}
			case kindMeta:
				value = m.encode()
			}
			return dst.Set(key, value)
		})
	})
	return m, err
}
