package swapstore

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"lethe/internal/filelock"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// Store is an open store. The package comment explains which calls may be concurrent or nested.
type Store struct {
	dir    string
	fs     vfs.FS
	format Format
	size   Size
	lock   io.Closer

	// writing is held by Apply, Rewrite and Close.
	writing sync.Mutex
	// rewriting is the rewriting in progress, or nil. touched holds the keys written since BeginRewriting or the last
	// catch-up. writing guards both.
	rewriting *Rewriting
	touched   *touched

	mu sync.RWMutex
	// current is nil after Close.
	current *generation
	// broken is the error of every write after an uncertain switch.
	broken error
}

// generation is one Pebble database and its readers.
type generation struct {
	number  uint64
	db      *pebble.DB
	readers sync.WaitGroup
	// spare, if not nil, is a batch to be reused by the holder of writing.
	spare *pebble.Batch
}

// Open opens the store in a folder, creating both if absent, and removes files that a crash left and the pointer does
// not name. format identifies the keys and values. Errors: ErrCorrupt, ErrFormat, ErrInUse if this or another process
// has the store open, and those of the file system.
func Open(fs vfs.FS, dir string, format Format) (*Store, error) {
	return OpenSized(fs, dir, format, Small())
}

// OpenSized is Open with another size than Small. The size may differ each time.
func OpenSized(fs vfs.FS, dir string, format Format, size Size) (*Store, error) {
	if err := makeDir(fs, dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	// Lock before removing anything: another process may be about to switch.
	lock, err := fs.Lock(fs.PathJoin(dir, lockName))
	if err != nil {
		if filelock.IsHeld(err) {
			err = fmt.Errorf("%w (%s)", ErrInUse, dir)
		}
		return nil, fmt.Errorf("store: lock: %w", err)
	}
	s := &Store{fs: fs, dir: dir, format: format, size: size, lock: lock}
	if s.current, err = s.recover(); err != nil {
		return nil, fmt.Errorf("store in %s: %w", dir, errors.Join(err, lock.Close()))
	}
	return s, nil
}

// recover cleans up the folder and opens the current generation.
func (s *Store) recover() (*generation, error) {
	number, found, err := readPointer(s.fs, s.dir)
	if err != nil {
		return nil, err
	}
	if !found {
		if err := announce(s.fs, s.dir); err != nil {
			return nil, err
		}
	}
	if err := checkFormat(s.fs, s.dir, s.format); err != nil {
		return nil, err
	}
	if err := sweep(s.fs, s.dir, number); err != nil {
		return nil, err
	}
	if number == 0 {
		return s.firstGeneration()
	}
	return s.openGeneration(number, false)
}

// announce records that a store is being created. Generations without a pointer mean that the
// pointer was lost; they must not be removed.
func announce(fs vfs.FS, dir string) error {
	found, err := generations(fs, dir)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: %d generations and no pointer", ErrCorrupt, len(found))
	}
	_, err = writePointer(fs, dir, 0)
	return err
}

// firstGeneration creates generation 1 and points at it.
func (s *Store) firstGeneration() (*generation, error) {
	g, err := s.openGeneration(1, true)
	if err != nil {
		return nil, err
	}
	if _, err := writePointer(s.fs, s.dir, 1); err != nil {
		return nil, errors.Join(err, g.db.Close())
	}
	return g, nil
}

func (s *Store) generationDir(number uint64) string {
	return s.fs.PathJoin(s.dir, generationName(number))
}

// openGeneration opens the database of a generation, which must exist or, with create, must not.
func (s *Store) openGeneration(number uint64, create bool) (*generation, error) {
	fs := s.fs
	if !create {
		// A new generation is not reachable before it is fully synced, so it needs no marked.
		fs = marked{fs}
	}
	p := pebbleOptions(fs, s.generationDir(number), s.size)
	p.ErrorIfExists, p.ErrorIfNotExists = create, !create
	if create {
		if err := markVersion(fs, s.generationDir(number), p.FormatMajorVersion); err != nil {
			return nil, fmt.Errorf("open generation %d: %w", number, err)
		}
	}
	db, err := pebble.Open(s.generationDir(number), p)
	if errors.Is(err, pebble.ErrDBDoesNotExist) {
		return nil, fmt.Errorf("%w: generation %d is named by the pointer and not there", ErrCorrupt, number)
	}
	if err != nil && !create {
		err = openingDamage(err)
	}
	if err != nil {
		return nil, fmt.Errorf("open generation %d: %w", number, err)
	}
	return &generation{number: number, db: db}, nil
}

// markVersion writes Pebble's version marker before the database exists. Without it Pebble starts with its oldest
// version and writes a marker for each later one, syncing the folder every time.
func markVersion(fs vfs.FS, dir string, version pebble.FormatMajorVersion) error {
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	marker, _, err := atomicfs.LocateMarker(fs, dir, "format-version")
	if err != nil {
		return err
	}
	return errors.Join(marker.Move(version.String()), marker.Close())
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// Close waits for readers and closes the database. A Rewriting in progress is abandoned after its running step.
// Closing twice is harmless.
func (s *Store) Close() error {
	s.writing.Lock()
	r := s.rewriting
	s.writing.Unlock()
	abandoned := r.Abandon()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	g := s.current
	s.current = nil
	s.mu.Unlock()
	if g == nil {
		return abandoned
	}
	g.readers.Wait()
	if err := errors.Join(abandoned, g.db.Close(), s.lock.Close()); err != nil {
		return fmt.Errorf("close generation %d: %w", g.number, err)
	}
	return nil
}
