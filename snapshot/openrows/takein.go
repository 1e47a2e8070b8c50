package openrows

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// TakeIn moves the files that hold rows of the given transactions into the store, with all their rows, so that the
// caller can delete or change them there. Files with outdated rows are moved too, without those rows. All dropped
// files are then unlinked, and the folder is synced so that a crash cannot bring them back.
func (r *Rows) TakeIn(of map[lethe.Timestep][]lethe.Pseudonym) error {
	outdated, err := outdatedIn(r.store)
	if err != nil {
		return err
	}
	wanted := make(map[lethe.Timestep]map[lethe.Pseudonym]bool)
	for _, list := range []map[lethe.Timestep][]lethe.Pseudonym{of, outdated} {
		for t, who := range list {
			if wanted[t] == nil {
				wanted[t] = make(map[lethe.Pseudonym]bool)
			}
			for _, p := range who {
				wanted[t][p] = true
			}
		}
	}
	for _, t := range slices.Sorted(maps.Keys(wanted)) {
		list, err := r.files(t)
		for i := 0; i < len(list) && err == nil; i++ {
			err = r.takeInOne(t, list[i], wanted[t])
		}
		if err != nil {
			return fmt.Errorf("take in rows of timestep %d: %w", t, err)
		}
	}
	if len(outdated) > 0 {
		err := r.store.Apply(func(w swapstore.Writer) error { return swapstore.DeletePrefix(w, []byte{outdatedKind}) })
		if err != nil {
			return err
		}
	}
	r.removing.Lock() // so that files other goroutines are about to unlink are gone
	defer r.removing.Unlock()
	return errors.Join(r.sync(), r.folder.remove(), swapstore.SyncDir(r.folder.fs, r.folder.dir))
}

// HasOutdated reports whether a store names files that may hold outdated rows.
func HasOutdated(store swapstore.Reader) (is bool, err error) {
	outdated, err := outdatedIn(store)
	for t := range outdated {
		if err == nil && !is {
			err = store.Scan(filesPrefix(t), func(_, _ []byte) error {
				is = true
				return nil
			})
		}
	}
	return is, err
}

// outdatedIn returns the transactions of which a file may have an outdated row.
func outdatedIn(store swapstore.Reader) (map[lethe.Timestep][]lethe.Pseudonym, error) {
	out := make(map[lethe.Timestep][]lethe.Pseudonym)
	err := store.Scan([]byte{outdatedKind}, func(key, _ []byte) error {
		t, rest, err := timestepkey.Cut(string(outdatedKind), key)
		if err != nil || len(rest) != pseudonymBytes {
			return errors.Join(fmt.Errorf("%w: key of %d bytes", swapstore.ErrCorrupt, len(key)), err)
		}
		out[t] = append(out[t], lethe.Pseudonym(rest))
		return nil
	})
	return out, err
}

func (r *Rows) takeInOne(t lethe.Timestep, d description, wanted map[lethe.Pseudonym]bool) error {
	has, err := r.folder.hasAny(d, wanted)
	if err != nil || !has {
		return err
	}
	m, err := r.folder.merge([]description{d})
	if err != nil {
		return err
	}
	err = r.store.Apply(func(w swapstore.Writer) error {
		err := m.before(nil, func(p lethe.Pseudonym, row []byte) error {
			_, found, err := r.store.Get(rowKey(t, p))
			if err != nil || found {
				return err
			}
			w.Set(rowKey(t, p), row)
			return nil
		})
		if err != nil {
			return err
		}
		w.Delete(fileKey(t, d.number))
		return nil
	})
	if err = errors.Join(err, m.close()); err == nil {
		r.folder.drop([]number{d.number})
	}
	return err
}

// hasAny reports whether a file has a row of one of the transactions.
func (f *folder) hasAny(d description, wanted map[lethe.Pseudonym]bool) (has bool, err error) {
	const few = 64 // a few are looked up individually, which reads little of the file
	if len(wanted) > few {
		m, err := f.merge([]description{d})
		if err != nil {
			return false, err
		}
		err = m.before(nil, func(p lethe.Pseudonym, _ []byte) error {
			has = has || wanted[p]
			return nil
		})
		return has, errors.Join(err, m.close())
	}
	for p := range wanted {
		_, found, err := f.find(d, p)
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}
