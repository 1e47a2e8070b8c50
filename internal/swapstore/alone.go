package swapstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// aloneName is the folder of tables in a generation that consists only of tables. It differs from tablesName, which
// a crash may leave in a generation that is a database.
const aloneName = "alone"

// Fill creates a store from the keys that fill sets (ascending, each once) without opening it. The store must be
// absent. When Fill returns nil, the content is durable; it is written only once. After an error the caller must
// remove the remains.
//
// Such a store consists only of tables. The first Open makes a database of them, which takes a dozen more files.
func Fill(ctx context.Context, fs vfs.FS, dir string, format Format, fill func(dst Writer) error) error {
	if err := makeDir(fs, fs.PathDir(dir)); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	unsynced := &later{FS: fs}
	err := fillAlone(ctx, unsynced, dir, format, fill)
	if err == nil {
		err = unsynced.syncAll(dir)
	}
	if err != nil {
		return fmt.Errorf("store in %s: %w", dir, err)
	}
	return nil
}

func fillAlone(ctx context.Context, fs vfs.FS, dir string, format Format, fill func(dst Writer) error) error {
	const first = 1
	if _, err := fs.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(errors.New("a folder is there"), err)
	}
	tables := fs.PathJoin(dir, generationName(first), aloneName)
	if err := fs.MkdirAll(tables, 0o700); err != nil {
		return err
	}
	w := newTableWriter(ctx, fs, tables, Small())
	if err := cmp.Or(w.finish(fill(w)), ctx.Err()); err != nil {
		return err
	}
	if format != (Format{}) {
		if _, err := writeWhole(fs, dir, formatName, formatTempName, format.String()+"\n"); err != nil {
			return err
		}
	}
	_, err := writePointer(fs, dir, first)
	return err
}

// isAlone reports whether a generation consists only of tables.
func isAlone(fs vfs.FS, generation string) (bool, error) {
	_, err := fs.Stat(fs.PathJoin(generation, aloneName))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// takeOver makes a database, the next generation, of a generation that consists only of tables. If a crash prevents
// the switch to it, the next Open repeats the work.
func (s *Store) takeOver(ctx context.Context, number uint64) (g *generation, err error) {
	unsynced := &later{FS: s.fs}
	g, err = s.openGeneration(unsynced, number+1, true)
	if err != nil {
		return nil, err
	}
	err = ingestCopies(ctx, g, unsynced, s.generationDir(number), s.generationDir(g.number))
	if err == nil {
		err = unsynced.syncAll(s.generationDir(g.number))
	}
	if err == nil {
		_, err = writePointer(s.fs, s.dir, g.number)
	}
	if err == nil {
		err = sweep(s.fs, s.dir, g.number)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a database of generation %d: %w", number, err), g.db.Close())
	}
	return g, nil
}

// ingestCopies ingests tables into a database and leaves the originals in place; most file systems allow hard links
// for that.
func ingestCopies(ctx context.Context, g *generation, fs vfs.FS, from, to string) error {
	from, to = fs.PathJoin(from, aloneName), fs.PathJoin(to, tablesName)
	names, err := fs.List(from)
	if err != nil || len(names) == 0 {
		return err
	}
	if err := fs.MkdirAll(to, 0o700); err != nil {
		return err
	}
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = fs.PathJoin(to, name)
		if err := vfs.LinkOrCopy(fs, fs.PathJoin(from, name), paths[i]); err != nil {
			return err
		}
	}
	return ingest(ctx, g, fs, to, paths)
}
