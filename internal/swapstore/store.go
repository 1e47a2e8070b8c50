package swapstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"

	"lethe/internal/spares"
)

// Store is an open store. See the package comment for what may be called from
// where.
type Store struct {
	dir    string
	fs     vfs.FS
	format Format
	size   Size
	lock   io.Closer

	// writing is held by Apply, Rewrite and Close.
	writing sync.Mutex
	// rewriting is that under way in parts, or nil, and touched what was written to since its fill has begun or was
	// caught up with. Both are for who holds writing.
	rewriting *Rewriting
	touched   *touched

	mu sync.RWMutex
	// current is nil after Close.
	current *generation
	// broken is what every write returns once a switch was left in doubt.
	broken error

	queue queue
}

// generation is one Pebble database and those who read it.
type generation struct {
	number  uint64
	db      *pebble.DB
	readers sync.WaitGroup
	// spare are batches to be used again.
	spare spares.List[*pebble.Batch]
	// largest is about how many bytes the largest batch had: one that has no spare to use has room for as many.
	largest atomic.Int64
}

// lockedHere is what Pebble says, and gives no name to, if this process has the lock.
const lockedHere = "lock held by current process"

// Open opens the store in a folder of a file system, creating both when absent;
// format is what its keys and values mean. It removes
// whatever a crash left that the pointer does not name. A second Open of the
// same folder fails while the first is not closed. Errors: ErrCorrupt, ErrFormat, ErrInUse
// if another process has it open, or this one has, or those of the file system.
func Open(fs vfs.FS, dir string, format Format) (*Store, error) {
	return OpenSized(fs, dir, format, Small())
}

// OpenSized is Open of a store that is not Small. The size may be another each time.
func OpenSized(fs vfs.FS, dir string, format Format, size Size) (*Store, error) {
	if err := makeDir(fs, dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	// The lock comes before anything is swept away: another process may be
	// about to switch.
	lock, err := fs.Lock(fs.PathJoin(dir, lockName))
	if err != nil {
		if errors.Is(err, syscall.EAGAIN) || err.Error() == lockedHere {
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

// recover brings the folder into order and opens the current generation.
func (s *Store) recover() (*generation, error) {
	number, found, err := readPointer(s.fs, s.dir)
	if err != nil {
		return nil, err
	}
	if !found {
		if err := s.announce(); err != nil {
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
	alone, err := isAlone(s.fs, s.generationDir(number))
	if err != nil {
		return nil, err
	}
	if alone {
		return s.takeOver(context.Background(), number)
	}
	return s.openGeneration(s.fs, number, false)
}

// announce notes that a store is being created here. Generations without a
// pointer mean that the pointer was lost; they are not ours to remove.
func (s *Store) announce() error {
	found, err := generations(s.fs, s.dir)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: %d generations and no pointer", ErrCorrupt, len(found))
	}
	_, err = writePointer(s.fs, s.dir, 0)
	return err
}

// firstGeneration creates generation 1 and points at it.
func (s *Store) firstGeneration() (*generation, error) {
	g, err := s.openGeneration(s.fs, 1, true)
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

// openGeneration opens the database of a generation, which must be there or,
// if it is to be created, must not.
func (s *Store) openGeneration(fs vfs.FS, number uint64, create bool) (*generation, error) {
	if !create {
		// Nothing points at a new one before it was synced whole.
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

// markVersion writes Pebble's marker of a database's version before there is a database. Without it Pebble begins with
// its oldest version and writes a marker for each one after that, syncing the folder every time.
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

// Close waits for readers and closes the database. A Rewriting that is under way is abandoned, once its part that goes
// on has ended. Closing twice is harmless.
func (s *Store) Close() error {
	s.writing.Lock()
	r := s.rewriting
	s.writing.Unlock()
	abandoned := r.Abandon()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.queue.wait(nil)
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
