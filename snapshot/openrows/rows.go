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

// Kind is the first byte of the keys of rows. Nothing else in the store may begin with it.
const Kind byte = 'r'

// fileKind is the same of files of rows, and outdatedKind of notes that a file has a row which is not the last one of
// its transaction.
const fileKind, outdatedKind byte = 'd', 'j'

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
	// removing is held by TakeIn while it sees that files are gone, and shared by others who have some removed.
	removing sync.RWMutex
	// spare is memory for files, to be used again.
	spare spares.List[*content]
}

// Open opens the rows of a store, whose folder is on a file system, and removes the files that a sudden stop left.
// Rows of a timestep that come together go to a file if they have fewestBytes or more.
// Errors: swapstore.ErrCorrupt, and those of the file system.
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
	const spare = 8 // of a few megabytes: as many are filled or written when much comes
	r := &Rows{store: store, folder: folder, fewestBytes: fewestBytes}
	r.spare.Most = spare
	return r, nil
}

// Prefixes are what the keys of all that the store holds of the rows of a timestep begin with: who takes all of them
// out tells Dropped what Files returned before.
func Prefixes(t lethe.Timestep) [][]byte {
	return [][]byte{rowsPrefix(t), filesPrefix(t), timestepkey.New([]byte{outdatedKind}, t)}
}

// OutdatedKey is the key of a note, without a value, to be set with a row of a transaction that may have another one in
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

// files are those of a timestep.
func (r *Rows) files(t lethe.Timestep) (list []description, err error) {
	err = r.store.Scan(filesPrefix(t), func(key, value []byte) error {
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

// Files returns those of a timestep.
func (r *Rows) Files(t lethe.Timestep) (Files, error) {
	list, err := r.files(t)
	out := make(Files, len(list))
	for i, d := range list {
		out[i] = d.number
	}
	return out, err
}

// Dropped notes files that the store does not name any more once its last change is durable: Sync makes it so, and
// Clean removes them then.
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

// Clean removes the files of which it is durable that the store does not name them. A sudden stop may bring them back
// until TakeIn was called, or the rows are opened again. Any goroutine may call it; what could not be removed is tried
// again.
func (r *Rows) Clean() error {
	r.removing.RLock()
	defer r.removing.RUnlock()
	return r.folder.remove()
}
