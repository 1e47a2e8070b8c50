package swapstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"
)

const (
	// tableBytes is how much a table of a new generation holds, about: a later compaction
	// writes whole tables.
	tableBytes = 8 << 20
	// tablesName is the folder of tables that are not part of the database yet.
	tablesName = "tables"
)

// tableWriter makes the tables of a new generation. What it is given comes in the
// order of the keys, so it writes tables, without the log and the memory tables before
// them, and a database takes them over. Tables are made in a goroutine of their own
// while what follows is read.
type tableWriter struct {
	//nolint:containedctx // lives for one call of Rewrite, whose context it is
	ctx  context.Context
	last []byte
	// next are entries that are not handed over yet, empty are lists to be filled.
	next        *entries
	full, empty chan *entries
	making      *errgroup.Group
	ended       bool
	tables      tables
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
func (w *tableWriter) Set(key, value []byte) error {
	if w.last != nil && bytes.Compare(key, w.last) <= 0 {
		return ErrOrder
	}
	w.last = append(w.last[:0], key...)
	if w.next.add(key, value); len(w.next.bytes) < entriesBytes {
		return nil
	}
	return w.hand()
}

// Delete implements Writer.
func (w *tableWriter) Delete([]byte) error { return ErrOrder }

// hand hands over the entries that have come together.
func (w *tableWriter) hand() error {
	select {
	case w.full <- w.next:
		w.next = <-w.empty
		return nil
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// make makes tables of what is handed over.
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

// finish makes everything durable and part of the empty database of a generation. The context is that of
// newTableWriter.
func (w *tableWriter) finish(ctx context.Context, g *generation) error {
	// Why nothing is taken any more is what the making of tables has ended with.
	handed := w.hand()
	if err := w.end(); err != nil {
		return err
	}
	if handed != nil || len(w.tables.paths) == 0 {
		return handed
	}
	return ingest(ctx, g, w.tables.fs, w.tables.dir, w.tables.paths)
}

// ingest has a database take over tables, which are all that is in a folder.
func ingest(ctx context.Context, g *generation, fs vfs.FS, dir string, paths []string) error {
	if err := g.db.Ingest(ctx, paths); err != nil {
		return fmt.Errorf("take over tables: %w", err)
	}
	// The database has them under names of its own.
	if err := fs.RemoveAll(dir); err != nil {
		return fmt.Errorf("take over tables: %w", err)
	}
	return nil
}

// end waits until what was handed over is durable, or an error has ended that. Tables that
// are not part of the database go with the generation. Calling it again is harmless.
func (w *tableWriter) end() error {
	if !w.ended {
		w.ended = true
		close(w.full)
	}
	return w.making.Wait()
}

// tables are written one after the other.
type tables struct {
	fs     vfs.FS
	dir    string
	format sstable.WriterOptions
	// paths are those of the tables, the last of which is open if there is a writer.
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

// begin begins a table.
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

// end makes the table durable that is open, if one is.
func (t *tables) end() error {
	if t.open == nil {
		return nil
	}
	w := t.open
	t.open = nil
	return w.Close()
}
