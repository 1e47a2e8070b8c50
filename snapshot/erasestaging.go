package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/index"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
)

// erase deletes the targets from staging, and the kindRewriting entries. Their bytes stay in the files until a Scrub.
func (s *staging) erase(gone stored.Erasure) error {
	infos, err := s.infosWithout(gone)
	if err != nil {
		return err
	}
	dropped, err := keysOf(s, gone)
	if err != nil {
		return err
	}
	err = s.Apply(func(w swapstore.Writer) error {
		for _, key := range dropped {
			w.Delete(key)
		}
		for t, i := range infos {
			putInfo(w, t, i)
		}
		return nil
	})
	if err != nil {
		return err
	}
	maps.DeleteFunc(infos, func(_ lethe.Timestep, i Info) bool { return i.empty() })
	s.infos = infos
	waitingChanged(s)
	return nil
}

// takeInRows moves the rows of located transactions from row files into the store, where they can be deleted or
// redacted. It also drops corrected rows with their files, because a replaced version may equal an erased row of
// another transaction, and the files of closed timesteps.
func takeInRows(s *staging, located []Located) error {
	of := make(map[lethe.Timestep][]lethe.Pseudonym)
	for _, l := range located {
		if l.Known && l.State == lethe.Open && l.Kind != lethe.PaymentTarget {
			of[l.Timestep] = append(of[l.Timestep], l.Pseudonym)
		}
	}
	return s.rows.TakeIn(of)
}

// putInfo stores a timestep's info, or deletes it if it is empty.
func putInfo(w swapstore.Writer, t lethe.Timestep, i Info) {
	if i.empty() {
		w.Delete(timestepKey(kindInfo, t))
		return
	}
	w.Set(timestepKey(kindInfo, t), i.encode())
}

// keysOf returns the keys to delete. It does not scan the index, which has an entry for every
// transaction of the history. With an index entry it also deletes the ReplacedKey of its content:
// the erased features are searched for only after the files that may hold them have been
// rewritten.
func keysOf(s *staging, gone stored.Erasure) (keys [][]byte, err error) {
	if keys, err = s.subjects.KeysOf(gone); err != nil {
		return nil, err
	}
	prefixes := [][]byte{{kindRow}, {kindPayment}, {kindLabel}, {kindLetter}, {kindRewriting}}
	for p := range gone.Nodes {
		prefixes = append(prefixes, index.Key(p))
	}
	for _, prefix := range prefixes {
		err = s.Scan(prefix, func(key, value []byte) error {
			drop, err := dropFromStaging(gone, key, value)
			if !drop || err != nil {
				return err
			}
			keys = append(keys, bytes.Clone(key))
			if key[0] == index.Kind {
				entry, err := index.Decode(value)
				keys = append(keys, index.ReplacedKey(entry.Content))
				return err
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
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

// infosWithout returns the infos of all timesteps after the erasure.
func (s *staging) infosWithout(gone stored.Erasure) (map[lethe.Timestep]Info, error) {
	infos := maps.Clone(s.infos)
	// lose uncounts an entry: as late if the timestep is past the state, otherwise by pending.
	lose := func(t lethe.Timestep, through lethe.State, pending func(*Info)) {
		i, known := infos[t]
		if !known {
			return
		}
		if i.State > through {
			i.Waiting--
		} else {
			pending(&i)
		}
		infos[t] = i
	}
	for kind, forget := range map[byte]func(e staged){
		kindRow: func(e staged) { lose(e.at, lethe.Open, func(i *Info) { i.Nodes-- }) },
		kindPayment: func(e staged) {
			if !isJudged(e.value) {
				lose(e.at, lethe.Open, func(i *Info) { i.Payments-- })
			}
		},
		kindLabel: func(e staged) {
			if !isJudged(e.value) {
				lose(e.at, lethe.Closed, func(i *Info) { i.Labels-- })
			}
		},
	} {
		err := s.scanThrough(kind, maxTimestep, func(e staged) error {
			if gone.Names(e.about) {
				forget(e)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// dropFromStaging reports whether an erasure deletes an entry. It always deletes kindRewriting
// entries.
func dropFromStaging(gone stored.Erasure, key, value []byte) (bool, error) {
	switch key[0] {
	case index.Kind:
		return gone.IsIn(key, 1)
	case kindRow, kindPayment, kindLabel:
		return gone.IsIn(key, 1+timestepBytes)
	case kindLetter:
		l, err := decodeLetter(value)
		return gone.Names(l.about), err
	case kindRewriting:
		return true, nil
	}
	return false, nil
}
