package snapshot

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// Erase removes transactions in whatever state their timesteps are: their rows,
// labels, assignments, index entries and content hashes, every payment that
// names them, and whatever of them awaits judgement or confirmation. Every
// store concerned is written anew and the old files are unlinked, so that when
// Erase returns nil, no file of the store holds a byte of them but the keyed
// hash by which they stay suppressed (Erase suppresses them first).
//
// It returns the closed and settled timesteps that held one, ascending, with
// their new revisions. It is idempotent: after an error or a crash, call it
// again with the same transactions; a timestep that was done before the crash
// keeps its revision, and is returned again as long as Erase has not returned
// nil. What was there must be asked before, with Locate.
func (s *Store) Erase(ctx context.Context, ids []lethe.TransactionID) ([]Info, error) {
	if err := s.Suppress(ids); err != nil {
		return nil, err
	}
	gone := s.erasure(ids)
	timesteps := map[lethe.Timestep]struct{}{}
	for p := range gone {
		entry, known, err := s.lookup(p)
		if err != nil {
			return nil, fmt.Errorf("erase: %w", err)
		}
		if known && s.info(entry.timestep).State > lethe.Open {
			timesteps[entry.timestep] = struct{}{}
		}
	}
	affected := slices.Sorted(maps.Keys(timesteps))
	for _, t := range affected {
		if err := s.rewriteTimestep(ctx, t, gone); err != nil {
			return nil, fmt.Errorf("erase from timestep %d: %w", t, err)
		}
	}
	if err := s.sweep(); err != nil {
		return nil, fmt.Errorf("erase: %w", err)
	}
	if err := s.rewriteStaging(ctx, gone); err != nil {
		return nil, fmt.Errorf("erase from staging: %w", err)
	}
	out := make([]Info, 0, len(affected))
	for _, t := range affected {
		out = append(out, s.infos[t])
	}
	return out, nil
}

// Compact writes staging anew as it is. What has moved on to timestep stores
// was deleted from staging, but its bytes were not.
func (s *Store) Compact(ctx context.Context) error {
	s.epoch++
	if err := s.rewriteStaging(ctx, erasure{}); err != nil {
		return fmt.Errorf("compact staging: %w", err)
	}
	return nil
}

// erasure is a set of transactions to erase.
type erasure map[lethe.Pseudonym]struct{}

func (s *Store) erasure(ids []lethe.TransactionID) erasure {
	e := make(erasure, len(ids))
	for _, id := range ids {
		e[s.options.Secret.Pseudonym(id)] = struct{}{}
	}
	return e
}

// names reports whether one of the pseudonyms at the end of a key is to go.
func (e erasure) names(key []byte, prefix int) bool {
	for at := prefix; at+pseudonymBytes <= len(key); at += pseudonymBytes {
		if _, found := e[lethe.Pseudonym(key[at:at+pseudonymBytes])]; found {
			return true
		}
	}
	return false
}

// namesAny reports whether one of the pseudonyms is to go.
func (e erasure) namesAny(about []lethe.Pseudonym) bool {
	return slices.ContainsFunc(about, func(p lethe.Pseudonym) bool {
		_, found := e[p]
		return found
	})
}

// rewriteTimestep writes the store of a closed timestep anew without the
// transactions, under a new revision if it held any. The note in staging lets
// Open take the revision over after a crash.
func (s *Store) rewriteTimestep(ctx context.Context, t lethe.Timestep, gone erasure) error {
	s.rewriting[t] = struct{}{}
	err := s.staging.Apply(func(w swapstore.Writer) error { return w.Set(timestepKey(kindRewriting, t), nil) })
	if err != nil {
		return err
	}
	store, err := s.stores.get(t)
	if err != nil {
		return err
	}
	m, err := readMeta(store)
	if err != nil {
		return err
	}
	found := 0
	for p := range gone {
		_, there, err := store.Get(pseudonymKey(kindNode, p))
		if err != nil {
			return err
		}
		if there {
			found++
		}
	}
	m.nodes -= found
	if found > 0 {
		m.revision++
	}
	if err := s.replaceTimestep(ctx, store, &m, gone); err != nil {
		// A store whose switch is in doubt has to be opened afresh.
		if closeErr := s.stores.close(t); closeErr != nil {
			return fmt.Errorf("%w (and close: %w)", err, closeErr)
		}
		return err
	}
	s.infos[t] = m.applyTo(s.infos[t])
	return nil
}

// replaceTimestep rewrites a timestep's store. Keys come in the order payments,
// assignments, description, rows, so that the description's counts are known
// when it is due.
func (s *Store) replaceTimestep(ctx context.Context, store *swapstore.Store, m *meta, gone erasure) error {
	return store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		m.payments, m.labelled = 0, 0
		return src.Scan(nil, func(key, value []byte) error {
			if key[0] != kindMeta && gone.names(key, 1) {
				return nil
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
}
