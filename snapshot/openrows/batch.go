package openrows

import (
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

const (
	// mostBytes bounds the rows of a file.
	mostBytes = 64 << 20
	// keptBytes is the largest buffer that is kept for reuse.
	keptBytes = 8 << 20
)

// Batch holds rows that arrive together. They become part of the store when the store applies the writes of
// Describe, after Write has succeeded.
type Batch struct {
	of *Rows
	// bytes is the expected size of the rows, by timestep.
	bytes map[lethe.Timestep]int
	files []*file
}

// file is a file to be written.
type file struct {
	timestep lethe.Timestep
	number   number
	*content
}

// NewBatch returns an empty batch.
func (r *Rows) NewBatch() *Batch { return &Batch{of: r, bytes: make(map[lethe.Timestep]int)} }

// Expect announces a row of so many bytes for a transaction of an open timestep that has no row yet. A row that was
// not announced goes to the store.
func (b *Batch) Expect(t lethe.Timestep, bytes int) {
	if bytes <= mostRowBytes {
		b.bytes[t] += headBytes + bytes
	}
}

// Put adds a row, copying its two parts, and reports whether it goes to a file; if not, the caller must store it.
// Rows of a timestep must come in the order of their pseudonyms, after Expect has announced all of them.
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

// Describe writes the entries that make the files part of the store.
func (b *Batch) Describe(w swapstore.Writer) {
	for _, f := range b.files {
		d := f.describe(f.number)
		w.Set(fileKey(f.timestep, d.number), d.encode())
	}
}

// Write writes the files and makes them durable, once. Any goroutine may call it. Files left by an error are
// unlinked by Clean, TakeIn and Open.
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

// write writes and syncs the files in order, so that the sequence on disk is deterministic. A batch seldom has more
// than one.
func (b *Batch) write(to *folder) error {
	for _, f := range b.files {
		file, err := f.write(to.fs, to.path(f.number))
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return swapstore.SyncDir(to.fs, to.dir)
}

// room returns a buffer for rows of so many bytes.
func (r *Rows) room(bytes int) *content {
	if c, found := r.spare.Take(); found {
		c.rows, c.starts = slices.Grow(c.rows[:0], min(bytes, mostBytes)), c.starts[:0]
		return c
	}
	return &content{rows: make([]byte, 0, min(bytes, mostBytes))}
}
