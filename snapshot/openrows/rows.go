package openrows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/spares"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// Kind is the first byte of the keys of rows. No other keys in the store may begin with it.
const Kind byte = 'r'

// fileKind is the first byte of the keys of files, and outdatedKind of those that mark a transaction with an
// outdated row in a file.
const fileKind, outdatedKind byte = 'd', 'j'

// folderName is the name of the folder below the store's.
const folderName = "rows"

// Store is the store of rows.
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
	// fewestBytes is the size from which the rows of a timestep get a file of their own.
	fewestBytes int
	// removing is held by TakeIn while it ensures that files are unlinked, and shared by Sync and Clean.
	removing sync.RWMutex
	// spare is a free list of file buffers.
	spare spares.List[*content]
}

// Open opens the rows of a store, whose folder is on fs, and removes the files that a crash left behind. Rows of a
// timestep that arrive together go to a file if they have at least fewestBytes. Errors: swapstore.ErrCorrupt, and
// those of the file system.
func Open(fs vfs.FS, store Store, fewestBytes int) (*Rows, error) {
	named := make(map[number]bool)
	err := store.Scan([]byte{fileKind}, func(key, value []byte) error {
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
	const spare = 8 // buffers of a few megabytes: as many are in use under load
	r := &Rows{store: store, folder: folder, fewestBytes: fewestBytes}
	r.spare.Most = spare
	return r, nil
}

// Prefixes returns the key prefixes of everything the store holds for the rows of a timestep. Before deleting them
// all, call Files, and pass its result to Dropped afterwards.
func Prefixes(t lethe.Timestep) [][]byte {
	return [][]byte{rowsPrefix(t), filesPrefix(t), timestepkey.New([]byte{outdatedKind}, t)}
}

// OutdatedKey is the key, with an empty value, to be set with a row of a transaction that may have an older row in
// a file.
func OutdatedKey(t lethe.Timestep, p lethe.Pseudonym) []byte {
	return append(timestepkey.New([]byte{outdatedKind}, t), p[:]...)
}

func rowsPrefix(t lethe.Timestep) []byte { return timestepkey.New([]byte{Kind}, t) }

func filesPrefix(t lethe.Timestep) []byte { return timestepkey.New([]byte{fileKind}, t) }

func fileKey(t lethe.Timestep, n number) []byte {
	return binary.BigEndian.AppendUint64(filesPrefix(t), uint64(n))
}

func rowKey(t lethe.Timestep, p lethe.Pseudonym) []byte {
	return append(rowsPrefix(t), p[:]...)
}

func parseFile(key, value []byte) (description, error) {
	_, rest, err := timestepkey.Cut(string(fileKind), key)
	if err != nil || len(rest) != binary.Size(number(0)) {
		return description{}, errors.Join(fmt.Errorf("%w: key of %d bytes", swapstore.ErrCorrupt, len(key)), err)
	}
	return decodeDescription(number(binary.BigEndian.Uint64(rest)), value)
}

// files returns the files of a timestep.
func (r *Rows) files(t lethe.Timestep) (list []description, err error) {
	err = r.store.Scan(filesPrefix(t), func(key, value []byte) error {
		d, err := parseFile(key, value)
		list = append(list, d)
		return err
	})
	return list, err
}

// Scan calls fn for the rows of a timestep, by pseudonym. They are valid only during the call. An error of fn stops
// the scan and is returned unchanged. Any goroutine may call it while no rows of the timestep are being deleted.
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
	prefix := rowsPrefix(t)
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

// Files returns the files of a timestep.
func (r *Rows) Files(t lethe.Timestep) (Files, error) {
	list, err := r.files(t)
	out := make(Files, len(list))
	for i, d := range list {
		out[i] = d.number
	}
	return out, err
}

// Dropped records files that the store no longer names. Sync makes that durable; after that Clean unlinks them.
func (r *Rows) Dropped(files Files) { r.folder.drop(files) }

// Sync makes all changes of the store durable. Any goroutine may call it.
func (r *Rows) Sync() error {
	r.removing.RLock()
	defer r.removing.RUnlock()
	return r.sync()
}

func (r *Rows) sync() error {
	dropped := r.folder.takeDropped()
	if err := r.store.Sync(); err != nil {
		r.folder.drop(dropped)
		return err
	}
	r.folder.release(dropped)
	return nil
}

// Clean unlinks the files that the store durably no longer names. A crash may bring them back until TakeIn is
// called or the rows are reopened. Any goroutine may call it; failures are retried by the next call.
func (r *Rows) Clean() error {
	r.removing.RLock()
	defer r.removing.RUnlock()
	return r.folder.remove()
}
