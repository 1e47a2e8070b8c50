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

// erase takes the transactions out of staging, and the notes of rewriting that end
// here. Their bytes stay in its files until it is scrubbed.
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
			if err := w.Delete(key); err != nil {
				return err
			}
		}
		for t, i := range infos {
			if err := putInfo(w, t, i); err != nil {
				return err
			}
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

// takeInRows has the rows of located transactions that are in files be in the store, so that they go or change there.
// Rows that were corrected go with their files, for what they were may be what is erased of another one; so do the
// files of timesteps that have closed.
func takeInRows(s *staging, located []Located) error {
	of := make(map[lethe.Timestep][]lethe.Pseudonym)
	for _, l := range located {
		if l.Known && l.State == lethe.Open && l.Kind != lethe.PaymentTarget {
			of[l.Timestep] = append(of[l.Timestep], l.Pseudonym)
		}
	}
	return s.rows.TakeIn(of)
}

// putInfo stores what is known of a timestep, if anything is.
func putInfo(w swapstore.Writer, t lethe.Timestep, i Info) error {
	if i.empty() {
		return w.Delete(timestepKey(kindInfo, t))
	}
	return w.Set(timestepKey(kindInfo, t), i.encode())
}

// keysOf returns what goes. The index, which has an entry for every transaction of the history, is
// not gone through. With an entry of it goes the note that one that was corrected had the same
// content: the features are looked for once the files, which may hold them, are written anew.
func keysOf(s *staging, gone stored.Erasure) (keys [][]byte, err error) {
	if keys, err = subjectKeysOf(s, gone); err != nil {
		return nil, err
	}
	prefixes := [][]byte{{kindRow}, {kindPayment}, {kindLabel}, {kindLetter}, {kindRewriting}}
	for p := range gone.Nodes {
		prefixes = append(prefixes, index.Key(p), stored.Key(kindCandidate, p))
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

// Scrub is staging that is written anew, so that its files hold nothing any more that was deleted from it before that
// began. It takes time as the history is long, for staging has an index of all transactions; nothing that Erase
// promises waits for it but the bytes on the disk. Its parts come one after the other: Fill and Clean, which take
// long, may run in another goroutine than that which owns the store, while that goes on; Switch is for the owner.
// What is deleted after the beginning may be in the new files, until the next one. A part that fails ends it. Errors
// are those of the contexts and of the file system.
type Scrub struct{ *swapstore.Rewriting }

// BeginScrub begins to write staging anew. One Scrub is under way at a time.
func (s *Store) BeginScrub() (Scrub, error) {
	r, err := swapstore.BeginRewriting(s.staging.Store)
	if err != nil {
		return Scrub{}, fmt.Errorf("scrub staging: %w", err)
	}
	return Scrub{r}, nil
}

// Fill makes the new files.
func (s Scrub) Fill(ctx context.Context) error {
	if err := s.Rewriting.Fill(ctx, fillScrubbed); err != nil {
		return fmt.Errorf("scrub staging: %w", err)
	}
	return nil
}

// fillScrubbed fills staging anew as it was when that began. What was corrected before is not in the new files, but may
// be in a file of rows; of what is corrected later the rewriting itself brings over that it may be.
func fillScrubbed(src swapstore.Reader, dst swapstore.Writer) error {
	outdated, err := openrows.HasOutdated(src)
	if err != nil {
		return err
	}
	return src.Scan(nil, func(key, value []byte) error {
		if key[0] == index.KindReplaced && !outdated {
			return nil
		}
		return dst.Set(key, value)
	})
}

// infosWithout returns what will be known of every timestep.
func (s *staging) infosWithout(gone stored.Erasure) (map[lethe.Timestep]Info, error) {
	infos := maps.Clone(s.infos)
	// What is counted as late, or as pending while a timestep is open.
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
	for p := range gone.Nodes {
		err := widths{s}.candidates(p, func(c candidate) error {
			lose(c.entry.Timestep, lethe.Open, func(i *Info) { i.Nodes-- })
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// dropFromStaging reports whether an entry goes with the transactions, or with
// the notes of rewriting that end here.
func dropFromStaging(gone stored.Erasure, key, value []byte) (bool, error) {
	switch key[0] {
	case index.Kind:
		return gone.IsIn(key, 1)
	case kindRow, kindPayment, kindLabel:
		return gone.IsIn(key, 1+timestepBytes)
	case kindCandidate:
		return gone.IsIn(key[:len(key)-widthBytes], 1)
	case kindLetter:
		l, err := decodeLetter(value)
		return gone.Names(l.about), err
	case kindRewriting:
		return true, nil
	}
	return false, nil
}
