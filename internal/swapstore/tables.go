package swapstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	// tableBytes is the approximate size of a new generation's tables: a later compaction rewrites
	// whole tables.
	tableBytes = 8 << 20
	// tablesName is the folder of tables that are not yet part of the database.
	tablesName = "tables"
)

// tableWriter writes the tables of a new generation. Its input is sorted, so it writes tables
// directly, without log and memory tables, and the database ingests them.
type tableWriter struct {
	//nolint:containedctx // lives for one call of Rewrite, whose context it is
	ctx    context.Context
	fs     vfs.FS
	dir    string
	format sstable.WriterOptions
	last   []byte
	// paths are the paths of the tables; the last one is open if there is a writer.
	paths []string
	open  *sstable.Writer
	bytes int
	// err is the first error of a change, after which nothing is written.
	err error
}

// newTableWriter returns a writer of tables into a folder.
func newTableWriter(ctx context.Context, fs vfs.FS, dir string, size Size) *tableWriter {
	p := pebbleOptions(fs, dir, size)
	p.EnsureDefaults()
	bottom := len(p.Levels) - 1
	return &tableWriter{
		ctx: ctx, fs: fs, dir: dir, format: p.MakeWriterOptions(bottom, formatVersion.MaxTableFormat()),
	}
}

var _ Writer = (*tableWriter)(nil)

// Set implements Writer.
func (w *tableWriter) Set(key, value []byte) {
	switch {
	case w.err != nil:
	case w.ctx.Err() != nil:
		w.err = context.Cause(w.ctx)
	case w.last != nil && bytes.Compare(key, w.last) <= 0:
		w.err = ErrOrder
	default:
		w.last = append(w.last[:0], key...)
		w.err = w.write(key, value)
	}
}

// Delete implements Writer.
func (w *tableWriter) Delete([]byte) {
	if w.err == nil {
		w.err = ErrOrder
	}
}

// finish makes, after filling, the last table durable, or returns the error that ended the writing. Tables that are
// not part of the database are removed with the generation.
func (w *tableWriter) finish(filled error) error {
	return errors.Join(filled, cmp.Or(w.err, w.end()))
}

// write adds an entry.
func (w *tableWriter) write(key, value []byte) error {
	if w.open == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if err := w.open.Set(key, value); err != nil {
		return err
	}
	if w.bytes += len(key) + len(value); w.bytes < tableBytes {
		return nil
	}
	return w.end()
}

// begin starts a table.
func (w *tableWriter) begin() error {
	if err := w.fs.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	path := w.fs.PathJoin(w.dir, fmt.Sprintf("%06d.sst", len(w.paths)))
	file, err := w.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w.paths = append(w.paths, path)
	w.open, w.bytes = sstable.NewWriter(objstorageprovider.NewFileWritable(gather(file)), w.format), 0
	return nil
}

// end makes the open table, if any, durable.
func (w *tableWriter) end() error {
	if w.open == nil {
		return nil
	}
	open := w.open
	w.open = nil
	return open.Close()
}

// ingest makes the tables part of a database; they are the only files in the folder.
func (w *tableWriter) ingest(g *generation) error {
	err := g.db.Ingest(w.ctx, w.paths)
	if err == nil {
		// The database has linked them under its own names.
		err = w.fs.RemoveAll(w.dir)
	}
	if err != nil {
		return fmt.Errorf("take over tables: %w", err)
	}
	return nil
}
