package openrows_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/openrows"
)

// drop has the store not name the files of a timestep any more.
func (b *bench) drop(t lethe.Timestep) {
	files, err := b.rows.Files(t)
	require.NoError(b, err)
	require.NoError(b, b.store.ApplyUnsynced(func(w swapstore.Writer) error {
		for _, prefix := range openrows.Prefixes(t) {
			if err := swapstore.DeletePrefix(w, prefix); err != nil {
				return err
			}
		}
		return nil
	}))
	b.rows.Dropped(files)
}

// A file goes once it is durable that nothing names it, not before: a machine that stops in between has it.
func TestAFileGoesOnceNothingNamesIt(t *testing.T) {
	disk := vfs.NewCrashableMem()
	b := newBench(t, disk, 1)
	b.take(1, map[lethe.Pseudonym]string{pseudonym(1): "one"})
	b.drop(1)
	require.Equal(t, 1, b.files())
	stopped := *b
	stopped.fs = disk.CrashClone(vfs.CrashCloneCfg{})
	require.NoError(t, stopped.open(1))
	stopped.check()
	require.NoError(t, stopped.store.Close())

	require.NoError(t, b.rows.Clean())
	require.Equal(t, 1, b.files())
	require.NoError(t, b.rows.Sync())
	require.NoError(t, b.rows.Clean())
	require.Zero(t, b.files())
	b.fs = disk.CrashClone(vfs.CrashCloneCfg{})
	require.NoError(t, b.store.Close())
	require.NoError(t, b.open(1))
	require.Zero(t, b.files())
	require.NoError(t, b.store.Close())
}

// A file that a sudden stop left, as the store does not name it, goes when that is opened. What is not a file of rows
// stays, and names are not used again.
func TestWhatNothingNamesGoesWhenItIsOpened(t *testing.T) {
	b := newBench(t, vfs.NewMem(), 1)
	b.take(1, map[lethe.Pseudonym]string{pseudonym(1): "one"})
	for _, name := range []string{"000007", "7", "notes.txt"} {
		file, err := b.fs.Create("store/rows/"+name, vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	require.NoError(t, b.store.Close())
	require.NoError(t, b.open(1))
	names, err := b.fs.List("store/rows")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"000000", "7", "notes.txt"}, names)
	b.take(1, map[lethe.Pseudonym]string{pseudonym(2): "two"})
	b.check()
	require.NoError(t, b.store.Close())
}

// A file with any other byte, or fewer, or more, is told as damaged when it is read whole, and so is one that is not
// there.
func TestADamagedFileIsTold(t *testing.T) {
	const name = "store/rows/000000"
	b := newBench(t, vfs.NewMem(), 1)
	b.take(1, map[lethe.Pseudonym]string{pseudonym(1): "one", pseudonym(2): "two"})
	file, err := b.fs.Open(name)
	require.NoError(t, err)
	intact, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	write := func(content []byte) {
		file, err := b.fs.Create(name, vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		_, err = file.Write(bytes.Clone(content)) // which it may change
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	read := func() error {
		return b.rows.Scan(1, func(lethe.Pseudonym, []byte) error { return nil })
	}
	for i := range intact {
		changed := append([]byte(nil), intact...)
		changed[i] ^= 0x80
		write(changed)
		require.ErrorIs(t, read(), swapstore.ErrCorrupt, "byte %d", i)
		for n := 1; n < 3; n++ { // a single row may be wrong, which the search of it must outlast
			_, _, _ = b.rows.Get(1, pseudonym(n))
		}
		write(intact[:i])
		require.ErrorIs(t, read(), swapstore.ErrCorrupt, "%d bytes", i)
	}
	write(append(intact, 0))
	require.ErrorIs(t, read(), swapstore.ErrCorrupt)
	write(intact)
	b.check()

	require.NoError(t, b.fs.Remove(name))
	require.ErrorIs(t, read(), swapstore.ErrCorrupt)
	require.NoError(t, b.store.Close())
	require.ErrorIs(t, b.open(1), swapstore.ErrCorrupt)
	require.NoError(t, b.store.Close())
}
