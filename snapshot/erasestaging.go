package snapshot

import (
	"context"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/index"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
)

// eraseStaged deletes the targets from staging, and sets erased features to 0 in rows and content hashes. Their bytes
// stay in the files until a Scrub. Stores of closed timesteps have been rewritten before.
func (t transition) eraseStaged(gone stored.Erasure) error {
	for p := range gone.Features {
		if err := t.redact(gone, p); err != nil {
			return err
		}
	}
	if err := t.erase(gone); err != nil {
		return err
	}
	return t.changes.apply()
}

// erase deletes the targets. It does not scan the index, which has an entry for every transaction of the history. With
// an index entry it also deletes the ReplacedKey of its content: the erased features are searched for only after the
// files that may hold them have been rewritten.
func (c *changes) erase(gone stored.Erasure) error {
	keys, err := c.staging.subjects.KeysOf(gone)
	if err != nil {
		return err
	}
	for p := range gone.Nodes {
		entry, known, err := index.Lookup(c.staging.Get, p)
		if err != nil {
			return err
		}
		if known {
			keys = append(keys, index.Key(p), index.ReplacedKey(entry.Content))
		}
	}
	for _, key := range keys {
		c.drop(key)
	}
	for _, kind := range []byte{kindRow, kindPayment, kindLabel} {
		err := c.staging.scanThrough(kind, lethe.MaxTimestep, func(e staged) error {
			if gone.Names(e.about) {
				c.lose(kind, e)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return c.staging.Scan([]byte{kindLetter}, func(key, value []byte) error {
		l, err := decodeLetter(value)
		if gone.Names(l.about) {
			c.drop(key)
		}
		return err
	})
}

// lose deletes an entry, which is counted unless it was judged.
func (c *changes) lose(kind byte, e staged) {
	c.drop(e.key)
	if !c.info(e.at).empty() && (kind == kindRow || !isJudged(e.value)) {
		c.count(kind, e.at, -1)
	}
}

// takeInRows moves the rows of located transactions from row files into the store, where they can be deleted or
// redacted. It also drops corrected rows with their files, because a replaced version may equal an erased row of
// another transaction, and the files of closed timesteps.
func (s *staging) takeInRows(located []Located) error {
	of := make(map[lethe.Timestep][]lethe.Pseudonym)
	for _, l := range located {
		if l.Known && l.State == lethe.Open && l.Kind != lethe.PaymentTarget {
			of[l.Timestep] = append(of[l.Timestep], l.Pseudonym)
		}
	}
	return s.rows.TakeIn(of)
}

// Scrub rewrites staging so that its files no longer hold anything deleted before BeginScrub. It takes time in
// proportion to the history, because staging has an index of all transactions; only the removal of bytes from the
// disk depends on it, no other promise of Erase. The parts run in order. Fill and Clean take long and may run in
// another goroutine while the owner continues to use the store; only the owner may call Switch. Entries deleted
// after BeginScrub may be in the new files until the next Scrub. A part that fails ends the Scrub. Errors are those
// of the contexts and of the file system.
type Scrub struct{ *swapstore.Rewriting }

// BeginScrub begins to rewrite staging. Only one Scrub may be in progress at a time.
func (s *Store) BeginScrub() (Scrub, error) {
	r, err := swapstore.BeginRewriting(s.staging.Store)
	if err != nil {
		return Scrub{}, fmt.Errorf("scrub staging: %w", err)
	}
	return Scrub{r}, nil
}

// Fill writes the new files.
func (s Scrub) Fill(ctx context.Context) error {
	if err := s.Rewriting.Fill(ctx, fillScrubbed); err != nil {
		return fmt.Errorf("scrub staging: %w", err)
	}
	return nil
}

// fillScrubbed copies staging as of BeginScrub. It omits the ReplacedKey entries unless a row file still holds an
// outdated row; entries added later are copied by the rewriting itself.
func fillScrubbed(src swapstore.Reader, dst swapstore.Writer) error {
	outdated, err := openrows.HasOutdated(src)
	if err != nil {
		return err
	}
	return src.Scan(nil, func(key, value []byte) error {
		if key[0] == index.KindReplaced && !outdated {
			return nil
		}
		dst.Set(key, value)
		return nil
	})
}

// Erased features become 0 while their transaction stays: in all later records of it, and in the
// stored rows.

// features finds a transaction of which some of the features are not 0. Otherwise the target is not known.
func (f finder) features(t lethe.Target) (Located, error) {
	l, err := f.transaction(t.Transaction)
	l.Columns = t.Columns
	if err != nil || !l.Known {
		return l, err
	}
	_, l.Known = t.Columns.Zeroed(l.Row)
	if !l.Known {
		l.Row = nil
	}
	if l.State > lethe.Open {
		row, found, err := f.closed.row(l.Timestep, l.Pseudonym)
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

// redact sets the erased features of a transaction to 0 in its row in staging and in its index entry.
func (t transition) redact(gone stored.Erasure, p lethe.Pseudonym) error {
	entry, known, err := index.Lookup(t.staging.Get, p)
	if err != nil || !known || gone.Nodes[p] {
		return err
	}
	key := timestepKey(kindRow, entry.Timestep, p)
	value, found, err := t.staging.Get(key)
	if err != nil {
		return err
	}
	var latest stored.Row
	if found {
		if value, err = gone.Redacted(p, value); err != nil {
			return err
		}
		t.set(key, value)
		latest, err = stored.DecodeRow(value)
	} else if t.staging.Info(entry.Timestep).State > lethe.Open {
		latest, found, err = t.store.closed.row(entry.Timestep, p)
	}
	if err == nil && found {
		t.rehash(p, entry, latest.Features)
	}
	return err
}

// rehash updates a transaction's content hash after its features changed.
func (c *changes) rehash(p lethe.Pseudonym, entry index.Entry, features []float32) {
	before := entry.Content
	if entry.Content = index.ContentOf(c.staging.options.Secret, features); entry.Content == before {
		return
	}
	c.drop(index.ReplacedKey(before)) // as changes.erase does
	c.set(index.Key(p), entry.Encode())
}

// redacted returns a transaction with its erased features set to 0.
func (s *staging) redacted(tr lethe.Transaction) lethe.Transaction {
	if columns, erased := s.suppressed.Redacted(tr.ID); erased {
		tr.Features, _ = columns.Zeroed(tr.Features)
	}
	return tr
}
