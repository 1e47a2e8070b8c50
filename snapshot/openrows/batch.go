package openrows

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/internal/swapstore"
)

const (
	// mostBytes bounds the rows of a file.
	mostBytes = 64 << 20
	// keptBytes is for how many memory is kept to be used again.
	keptBytes = 8 << 20
)

// Batch are rows that come together. They are part of the store with what the batch of the store holds that Put was
// given, once Write was called before that is applied.
type Batch struct {
	of *Rows
	// bytes is how many bytes the rows of a timestep have.
	bytes map[lethe.Timestep]int
	files []*file
}

// file is one that is to be written.
type file struct {
	timestep lethe.Timestep
	number   number
	*content
}

// NewBatch returns a batch without rows.
func (r *Rows) NewBatch() *Batch { return &Batch{of: r, bytes: make(map[lethe.Timestep]int)} }

// Expect says that a row will be put that has so many bytes, of a transaction of an open timestep that has none yet.
// What is not expected goes to the store.
func (b *Batch) Expect(t lethe.Timestep, bytes int) {
	if bytes <= mostRowBytes {
		b.bytes[t] += headBytes + bytes
	}
}

// Put adds a row, whose two parts are copied, and reports whether it goes to a file: if not, the caller stores it. Of
// each timestep rows come in the order of their pseudonyms; expected are those that Expect was told.
func (b *Batch) Put(t lethe.Timestep, p lethe.Pseudonym, first, second []byte) bool {
	bytes := len(first) + len(second)
	if b.bytes[t] < b.of.fewestBytes || bytes > mostRowBytes {
		return false
	}
	at := slices.IndexFunc(b.files, func(f *file) bool { return f.timestep == t })
	if at < 0 {
		at = len(b.files)
		b.files = append(b.files, &file{t, b.of.folder.reserve(), b.of.room(b.bytes[t])})
	}
	if len(b.files[at].rows)+headBytes+bytes > mostBytes {
		return false
	}
	b.files[at].add(p, first, second)
	return true
}

// Describe has the store name the files.
func (b *Batch) Describe(w swapstore.Writer) error {
	for _, f := range b.files {
		d := f.describe(f.number)
		if err := w.Set(fileKey(f.timestep, d.number), d.encode()); err != nil {
			return err
		}
	}
	return nil
}

// Write writes the files and makes them durable, once. Any goroutine may call it. What an error leaves, Clean removes,
// as do TakeIn and Open.
func (b *Batch) Write() error {
	if len(b.files) == 0 {
		return nil
	}
	if err := b.write(b.of.folder); err != nil {
		for _, f := range b.files { // the store will not name them
			b.of.folder.release([]number{f.number})
		}
		return fmt.Errorf("write %d files of rows: %w", len(b.files), err)
	}
	for _, f := range b.files {
		if cap(f.rows) <= keptBytes {
			b.of.spare.Keep(f.content)
		}
	}
	b.files = nil
	return nil
}

// write writes one file after the other, so that the disk sees the same in the same order every time, and synchronises
// them together: the disk does together what comes together.
func (b *Batch) write(to *folder) (err error) {
	var working errgroup.Group
	for _, f := range b.files {
		var file vfs.File
		if file, err = f.write(to.fs, to.path(f.number)); err != nil {
			break
		}
		working.Go(func() error { return errors.Join(file.Sync(), file.Close()) })
	}
	if err = errors.Join(err, working.Wait()); err != nil {
		return err
	}
	return swapstore.SyncDir(to.fs, to.dir)
}

// room returns memory for rows of so many bytes.
func (r *Rows) room(bytes int) *content {
	if c, found := r.spare.Take(); found {
		c.rows, c.starts = slices.Grow(c.rows[:0], min(bytes, mostBytes)), c.starts[:0]
		return c
	}
	return &content{rows: make([]byte, 0, min(bytes, mostBytes))}
}
