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
	"golang.org/x/sync/errgroup"
)

const (
	// tableBytes is the approximate size of a new generation's tables: a later compaction rewrites
	// whole tables.
	tableBytes = 8 << 20
	// tablesName is the folder of tables that are not yet part of the database.
	tablesName = "tables"
)

// tableWriter writes the tables of a new generation. Its input is sorted, so it writes tables
// directly, without log and memory tables, and the database ingests them. A separate goroutine
// writes tables while the caller reads on.
type tableWriter struct {
	//nolint:containedctx // lives for one call of Rewrite, whose context it is
	ctx  context.Context
	last []byte
	// next holds entries not handed over yet; empty holds lists to be refilled.
	next        *entries
	full, empty chan *entries
	making      *errgroup.Group
	// err is the first error of a change, after which nothing is written.
	err    error
	tables tables
}

// newTableWriter returns a writer of tables into a folder.
func newTableWriter(ctx context.Context, fs vfs.FS, dir string, size Size) *tableWriter {
	p := pebbleOptions(fs, dir, size)
	p.EnsureDefaults()
	bottom := len(p.Levels) - 1
	w := &tableWriter{
		next: new(entries), full: make(chan *entries), empty: make(chan *entries, 2),
		tables: tables{
			fs: fs, dir: dir, format: p.MakeWriterOptions(bottom, formatVersion.MaxTableFormat()),
		},
	}
	w.empty <- new(entries)
	w.making, w.ctx = errgroup.WithContext(ctx)
	w.making.Go(w.make)
	return w
}

var _ Writer = (*tableWriter)(nil)

// Set implements Writer.
func (w *tableWriter) Set(key, value []byte) {
	if w.last != nil && bytes.Compare(key, w.last) <= 0 {
		w.fail(ErrOrder)
	}
	if w.err != nil {
		return
	}
	w.last = append(w.last[:0], key...)
	if w.next.add(key, value); len(w.next.bytes) >= entriesBytes {
		w.hand()
	}
}

// Delete implements Writer.
func (w *tableWriter) Delete([]byte) { w.fail(ErrOrder) }

func (w *tableWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// hand hands the collected entries over to the other goroutine, unless there was an error.
func (w *tableWriter) hand() {
	if w.err != nil {
		return
	}
	select {
	case w.full <- w.next:
		w.next = <-w.empty
	case <-w.ctx.Done():
		w.fail(context.Cause(w.ctx))
	}
}

// make writes the handed-over entries into tables.
func (w *tableWriter) make() error {
	for list := range w.full {
		if err := w.tables.write(list); err != nil {
			return fmt.Errorf("write: %w", errors.Join(err, w.tables.end()))
		}
		list.clear()
		w.empty <- list
	}
	if err := w.tables.end(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// finish waits, after filling, until everything handed over is durable, or an error ended the writing. Tables that are
// not part of the database are removed with the generation.
func (w *tableWriter) finish(filled error) error {
	if filled == nil {
		w.hand()
	}
	close(w.full)
	// If handing over fails, Wait returns the reason.
	return errors.Join(filled, cmp.Or(w.making.Wait(), w.err))
}

// ingest makes tables part of a database; they are the only files in the folder.
func ingest(ctx context.Context, g *generation, fs vfs.FS, dir string, paths []string) error {
	if err := g.db.Ingest(ctx, paths); err != nil {
		return fmt.Errorf("take over tables: %w", err)
	}
	// The database has linked them under its own names.
	if err := fs.RemoveAll(dir); err != nil {
		return fmt.Errorf("take over tables: %w", err)
	}
	return nil
}

// tables writes a sequence of tables.
type tables struct {
	fs     vfs.FS
	dir    string
	format sstable.WriterOptions
	// paths are the paths of the tables; the last one is open if there is a writer.
	paths []string
	open  *sstable.Writer
	bytes int
}

// write adds entries.
func (t *tables) write(list *entries) error {
	return list.each(func(key, value []byte) error {
		if t.open == nil {
			if err := t.begin(); err != nil {
				return err
			}
		}
		if err := t.open.Set(key, value); err != nil {
			return err
		}
		if t.bytes += len(key) + len(value); t.bytes < tableBytes {
			return nil
		}
		return t.end()
	})
}

// begin starts a table.
func (t *tables) begin() error {
	if err := t.fs.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	path := t.fs.PathJoin(t.dir, fmt.Sprintf("%06d.sst", len(t.paths)))
	file, err := t.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	t.paths = append(t.paths, path)
	t.open, t.bytes = sstable.NewWriter(objstorageprovider.NewFileWritable(gather(file)), t.format), 0
	return nil
}

// end makes the open table, if any, durable.
func (t *tables) end() error {
	if t.open == nil {
		return nil
	}
	w := t.open
	t.open = nil
	return w.Close()
}
