package snapshot

import (
	"bytes"
	"fmt"

	"lethe"
	"lethe/snapshot/closed"
	"lethe/snapshot/index"
	"lethe/snapshot/stored"
)

// Erased features become 0 while their transaction stays: in all later records of it, and in the
// stored rows.

// Redactor returns the value of a record with 0 for the erased features of its transaction, and
// whether that changed the value.
type Redactor func(value []byte, erased func(lethe.TransactionID) (lethe.Columns, bool)) ([]byte, bool)

// locateFeatures finds the rows of a transaction in which some of the features are not 0. The
// target is known if there are any.
func locateFeatures(s *Store, t lethe.Target) (Located, error) {
	l, err := s.staging.locate(t.Transaction)
	l.Columns = t.Columns
	if err != nil || !l.Known {
		return l, err
	}
	rows := l.Rows
	l.Rows = nil
	for _, row := range rows {
		if _, changed := t.Columns.Zeroed(row); changed {
			l.Rows = append(l.Rows, row)
		}
	}
	l.Known = len(l.Rows) > 0
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

// redactStaging zeroes the erased features in staging: in rows, letters and content hashes. Stores of closed
// timesteps have been rewritten before.
func redactStaging(s *Store, gone stored.Erasure) error {
	if len(gone.Features) == 0 {
		return nil
	}
	c := s.staging.change()
	for p := range gone.Features {
		if gone.Nodes[p] {
			continue
		}
		if err := redactOne(s, c, gone, p); err != nil {
			return err
		}
	}
	err := s.staging.Scan([]byte{kindLetter}, func(key, value []byte) error {
		l, err := decodeLetter(value)
		if err != nil || len(l.about) != 1 {
			return err
		}
		if _, redacted := gone.Features[l.about[0]]; redacted && redactOrigin(s.staging, &l.letter.Origin) {
			c.set(bytes.Clone(key), l.encode())
		}
		return nil
	})
	if err != nil || len(c.writes) == 0 {
		return err
	}
	return c.commit()
}

// redactOne is redactStaging for the row and index entry of one transaction.
func redactOne(s *Store, c *changes, gone stored.Erasure, p lethe.Pseudonym) error {
	entry, known, err := index.Lookup(s.staging.Get, p)
	if err != nil {
		return err
	}
	var latest stored.Row
	found := false
	if known {
		key := timestepKey(kindRow, entry.Timestep, p)
		value, staged, err := s.staging.Get(key)
		if err != nil {
			return err
		}
		if found = staged; staged {
			if value, err = gone.Redacted(p, value); err != nil {
				return err
			}
			c.set(key, value)
			latest, err = stored.DecodeRow(value)
		} else if s.staging.info(entry.Timestep).State > lethe.Open {
			latest, found, err = closedRow(s, entry.Timestep, p)
		}
		if err != nil {
			return err
		}
	}
	if found {
		rehash(s.staging, c, p, entry, latest.Features)
	}
	return nil
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
	return becomes(b, value, columns, arrived)
}

// becomes reports whether a stored row has the arriving content once the columns are 0.
func becomes(b *Batch, value []byte, columns lethe.Columns, arrived index.Entry) (bool, error) {
	r, err := stored.DecodeRow(value)
	if err != nil {
		return false, fmt.Errorf("row of timestep %d: %w", arrived.Timestep, err)
	}
	zeroed, _ := columns.Zeroed(r.Features)
	return index.ContentOf(b.staging.options.Secret, zeroed) == arrived.Content, nil
}

// redactOrigin redacts an original record and reports whether it changed. Without a Redactor the
// value cannot be checked, and it is dropped.
func redactOrigin(s *staging, o *Origin) bool {
	if o.Value == nil {
		return false
	}
	if s.options.Redact == nil {
		o.Value, o.Headers = nil, nil
		return true
	}
	value, changed := s.options.Redact(o.Value, s.suppressed.Redacted)
	if changed {
		o.Value, o.Headers = value, nil
	}
	return changed
}
