package swapstore

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// aloneName is the folder of tables of a generation that is nothing else. It is not tablesName: of that, a crash may
// leave the name in a generation that is a database.
const aloneName = "alone"

// Fill makes a store that is not there yet, with what fill sets, keys ascending, each once, and does not open it. If it
// returns nil, that is durable, and it was written once; on an error what is there of it is to be removed.
//
// Such a store is tables alone: a database, which is a dozen files more, is made of them when it is opened first.
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
	err := fill(w)
	if err == nil {
		err = w.hand()
	}
	if err = errors.Join(err, w.end()); err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if format != (Format{}) {
		if _, err := writeWhole(fs, dir, formatName, formatTempName, format.String()+"\n"); err != nil {
			return err
		}
	}
	_, err = writePointer(fs, dir, first)
	return err
}

// isAlone reports whether a generation is tables alone.
func isAlone(fs vfs.FS, generation string) (bool, error) {
	_, err := fs.Stat(fs.PathJoin(generation, aloneName))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// takeOver makes the next generation, a database, of one that is tables alone. Killed before it points there, it is
// done again.
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

// ingestCopies has a database take over tables that stay where they are, too: on most file systems under a second name.
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
