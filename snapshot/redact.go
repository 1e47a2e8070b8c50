package snapshot

import (
	"fmt"

	"lethe"
	"lethe/snapshot/closed"
	"lethe/snapshot/index"
	"lethe/snapshot/stored"
)

// Erased features become 0 while their transaction stays: in all later records of it, and in the
// stored rows.

// locateFeatures finds a transaction of which some of the features are not 0. Otherwise the target is not known.
func locateFeatures(s *Store, t lethe.Target) (Located, error) {
	l, err := s.staging.locate(t.Transaction)
	l.Columns = t.Columns
	if err != nil || !l.Known {
		return l, err
	}
	_, l.Known = t.Columns.Zeroed(l.Row)
	if !l.Known {
		l.Row = nil
	}
	if l.State > lethe.Open {
		row, found, err := closedRow(s, l.Timestep, l.Pseudonym)
		if err != nil {
			return l, err
		}
		if _, changed := t.Columns.Zeroed(row.Features); found && changed {
			l.Known = true
		}
	}
	if !l.Known {
		return Located{Pseudonym: l.Pseudonym, Columns: t.Columns}, nil
	}
	return l, nil
}

// closedRow returns a row of the graph of a closed timestep.
func closedRow(s *Store, t lethe.Timestep, p lethe.Pseudonym) (stored.Row, bool, error) {
	store, err := s.closed.Get(t)
	if err != nil {
		return stored.Row{}, false, err
	}
	value, found, err := store.Row(p)
	if err != nil || !found {
		return stored.Row{}, false, err
	}
	r, err := stored.DecodeRow(value)
	return r, true, err
}

// redactStaging zeroes the erased features in staging, in rows and content hashes. Stores of closed timesteps have been
// rewritten before.
func redactStaging(s *Store, gone stored.Erasure) error {
	c := s.staging.change()
	for p := range gone.Features {
		if gone.Nodes[p] {
			continue
		}
		if err := redactOne(s, c, gone, p); err != nil {
			return err
		}
	}
	if len(c.writes) == 0 {
		return nil
	}
	return c.commit()
}

// redactOne is redactStaging for the row and index entry of one transaction.
func redactOne(s *Store, c *changes, gone stored.Erasure, p lethe.Pseudonym) error {
	entry, known, err := index.Lookup(s.staging.Get, p)
	if err != nil || !known {
		return err
	}
	key := timestepKey(kindRow, entry.Timestep, p)
	value, found, err := s.staging.Get(key)
	if err != nil {
		return err
	}
	var latest stored.Row
	if found {
		if value, err = gone.Redacted(p, value); err != nil {
			return err
		}
		c.set(key, value)
		latest, err = stored.DecodeRow(value)
	} else if s.staging.Info(entry.Timestep).State > lethe.Open {
		latest, found, err = closedRow(s, entry.Timestep, p)
	}
	if err == nil && found {
		rehash(s.staging, c, p, entry, latest.Features)
	}
	return err
}

// rehash updates a transaction's content hash after its features changed.
func rehash(s *staging, c *changes, p lethe.Pseudonym, entry index.Entry, features []float32) {
	before := entry.Content
	if entry.Content = index.ContentOf(s.options.Secret, features); entry.Content == before {
		return
	}
	c.drop(index.ReplacedKey(before)) // as keysOf does
	c.set(index.Key(p), entry.Encode())
}

// redacted returns a transaction with its erased features set to 0.
func redacted(s *staging, tr lethe.Transaction) lethe.Transaction {
	if columns, erased := s.suppressed.Redacted(tr.ID); erased {
		tr.Features, _ = columns.Zeroed(tr.Features)
	}
	return tr
}

// isKnown reports whether an arriving transaction equals the stored one. Between the suppression
// of features and the rewrite, the store still has their values; they are compared as 0, so that
// a redelivered record is not mistaken for a correction.
func isKnown(b *Batch, p lethe.Pseudonym, id lethe.TransactionID, known, arrived index.Entry) (bool, error) {
	columns, erased := b.staging.suppressed.Redacted(id)
	if known == arrived || known.Timestep != arrived.Timestep || !erased {
		return known == arrived, nil
	}
	value, found, err := b.get(timestepKey(kindRow, known.Timestep, p))
	if err == nil && !found {
		value, found, err = b.staging.rows.Get(known.Timestep, p)
	}
	if err == nil && !found {
		err = b.inGraph(known.Timestep, lethe.Closed, func(g closed.Graph) (err error) {
			value, found, err = g.Row(p)
			return err
		})
	}
	if err != nil || !found {
		return false, err
	}
	r, err := stored.DecodeRow(value)
	if err != nil {
		return false, fmt.Errorf("row of timestep %d: %w", arrived.Timestep, err)
	}
	zeroed, _ := columns.Zeroed(r.Features)
	return index.ContentOf(b.staging.options.Secret, zeroed) == arrived.Content, nil
}
