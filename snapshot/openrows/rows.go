package openrows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/spares"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// Kind is the first byte of the keys of rows. Nothing else in the store may begin with it.
const Kind byte = 'r'

// FileKind is the same of files of rows.
const FileKind byte = 'd'

// folderName is that of the folder below the store's.
const folderName = "rows"

// Store is what rows are kept in.
type Store interface {
	swapstore.Reader
	Apply(fn func(w swapstore.Writer) error) error
	Sync() error
	Dir() string
}

// Rows are the rows of open timesteps.
type Rows struct {
	store  Store
	folder *folder
	// fewestBytes of rows of a timestep are given a file of their own.
	fewestBytes int
	// spare is memory for files, to be used again.
	spare spares.List[*content]
}

// Open opens the rows of a store, whose folder is on a file system, and removes the files that a sudden stop left.
// Rows of a timestep that come together go to a file if they have fewestBytes or more.
// Errors: swapstore.ErrCorrupt, and those of the file system.
func Open(fs vfs.FS, store Store, fewestBytes int) (*Rows, error) {
	named := make(map[number]bool)
	err := store.Scan([]byte{FileKind}, func(key, value []byte) error {
		d, err := parseFile(key, value)
		named[d.number] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open rows: %w", err)
	}
	folder, err := openFolder(fs, fs.PathJoin(store.Dir(), folderName), named)
	if err != nil {
		return nil, fmt.Errorf("open rows: %w", err)
	}
	return &Rows{store: store, folder: folder, fewestBytes: fewestBytes}, nil
}

// FilesPrefix is what the keys of a timestep's files begin with: who takes all rows of a timestep out of the store
// deletes these too, and tells Dropped what Files returned before.
func FilesPrefix(t lethe.Timestep) []byte { return timestepkey.New([]byte{FileKind}, t) }

func fileKey(t lethe.Timestep, n number) []byte {
	return binary.BigEndian.AppendUint64(FilesPrefix(t), uint64(n))
}

func rowKey(t lethe.Timestep, p lethe.Pseudonym) []byte {
	return append(timestepkey.New([]byte{Kind}, t), p[:]...)
}

func parseFile(key, value []byte) (description, error) {
	_, rest, err := timestepkey.Cut(string(FileKind), key)
	if err != nil || len(rest) != binary.Size(number(0)) {
		return description{}, errors.Join(fmt.Errorf("%w: key of %d bytes", swapstore.ErrCorrupt, len(key)), err)
	}
	return decodeDescription(number(binary.BigEndian.Uint64(rest)), value)
}

// files are those of a timestep.
func (r *Rows) files(t lethe.Timestep) (list []description, err error) {
	err = r.store.Scan(FilesPrefix(t), func(key, value []byte) error {
		d, err := parseFile(key, value)
		list = append(list, d)
		return err
	})
	return list, err
}

// Scan calls fn for the rows of a timestep, by pseudonym. They are valid during the call alone. An error of fn ends it
// and is returned as it is. Any goroutine may call it while nobody takes rows of the timestep out.
func (r *Rows) Scan(t lethe.Timestep, fn func(p lethe.Pseudonym, row []byte) error) (err error) {
	list, err := r.files(t)
	if err != nil {
		return err
	}
	m, err := r.folder.merge(list)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	prefix := timestepkey.New([]byte{Kind}, t)
	err = r.store.Scan(prefix, func(key, value []byte) error {
		if len(key) != len(prefix)+pseudonymBytes {
			return fmt.Errorf("%w: key of a row has %d bytes", swapstore.ErrCorrupt, len(key))
		}
		p := lethe.Pseudonym(key[len(prefix):])
		if err := m.before(&p, fn); err != nil {
			return err
		}
		return fn(p, value)
	})
	if err != nil {
		return err
	}
	return m.before(nil, fn)
}

// Get returns the row of a transaction in a timestep, and whether there is one.
func (r *Rows) Get(t lethe.Timestep, p lethe.Pseudonym) (row []byte, found bool, err error) {
	row, found, err = r.store.Get(rowKey(t, p))
	if err != nil || found {
		return row, found, err
	}
	list, err := r.files(t)
	for i := 0; i < len(list) && err == nil && !found; i++ {
		row, found, err = r.folder.find(list[i], p)
	}
	return row, found, err
}

// Files are files of a timestep.
type Files []number

// Files returns those of a timestep.
func (r *Rows) Files(t lethe.Timestep) (Files, error) {
	list, err := r.files(t)
	out := make(Files, len(list))
	for i, d := range list {
		out[i] = d.number
	}
	return out, err
}

// Dropped notes files that the store does not name any more once its last change is durable. They are removed then: by
// Sync, or by Clean.
func (r *Rows) Dropped(files Files) { r.folder.drop(files) }

// Clean removes the files that were dropped. All changes of the store have to be durable.
func (r *Rows) Clean() error { return r.folder.remove(r.folder.takeDropped()) }

// Sync makes all changes of the store durable, and removes the files that it does not name any more. Any goroutine may
// call it.
func (r *Rows) Sync() error {
	dropped := r.folder.takeDropped()
	if err := r.store.Sync(); err != nil {
		r.folder.drop(dropped)
		return err
	}
	return r.folder.remove(dropped)
}

// TakeIn has the files that hold rows of some transactions be part of the store, with all their rows, so that who
// removes them or changes them finds them there. The transactions are given by their timesteps. Whatever was dropped
// is removed too.
func (r *Rows) TakeIn(of map[lethe.Timestep][]lethe.Pseudonym) error {
	for _, t := range slices.Sorted(maps.Keys(of)) {
		list, err := r.files(t)
		if err != nil {
			return err
		}
		for _, d := range list {
			if err := r.takeInOne(t, d, of[t]); err != nil {
				return fmt.Errorf("timestep %d: file %d of rows: %w", t, d.number, err)
			}
		}
	}
	return r.Sync()
}

func (r *Rows) takeInOne(t lethe.Timestep, d description, wanted []lethe.Pseudonym) error {
	has := false
	for _, p := range wanted {
		_, found, err := r.folder.find(d, p)
		if err != nil {
			return err
		}
		has = has || found
	}
	if !has {
		return nil
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
			return w.Set(rowKey(t, p), row)
		})
		if err != nil {
			return err
		}
		return w.Delete(fileKey(t, d.number))
	})
	if err = errors.Join(err, m.close()); err == nil {
		r.folder.drop([]number{d.number})
	}
	return err
}
