package swapstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
)

// What a store has written is found below its folder, in memory as on a disk.
func TestFilesShowWhatAStoreWrote(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"memory": vfs.NewMem(), "disk": vfs.Default} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			s, err := swapstore.Open(fsys, fsys.PathJoin(root, "role", "shard"), swapstore.Format{Kind: "test", Version: 1})
			require.NoError(t, err)
			defer s.Close()
			require.NoError(t, swapstore.Set(s, []byte("the-key"), []byte("value")))
			files := swapstore.Files(fsys, fsys.PathJoin(root, "role"))
			var found int
			require.NoError(t, fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				content, err := fs.ReadFile(files, path)
				if errors.Is(err, fs.ErrNotExist) { // the open store has replaced it
					return nil
				}
				if bytes.Contains(content, []byte("the-key")) {
					found++
				}
				return err
			}))
			require.Equal(t, 1, found, "files with the key")
			_, err = fs.Stat(files, "missing")
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

// Lookup says of every key what Get says: of keys that are there, deleted, written over or never
// were, in memory and in tables of every level, whatever order they are asked in.
func TestLookupSaysWhatGetSays(t *testing.T) {
	for name, size := range map[string]swapstore.Size{"small": swapstore.Small(), "busy": swapstore.Busy()} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "busy" {
				t.Skip("takes as long again")
			}
			size.MemTableBytes = 64 << 10
			s, err := swapstore.OpenSized(vfs.NewMem(), "store", swapstore.Format{}, size)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			const keys = 3000
			key := func(i int) []byte { return fmt.Appendf(nil, "key-%d", i*7919%keys) }
			agree := func() {
				t.Helper()
				asked := [][]byte{[]byte("a"), []byte("key"), []byte("z")}
				for i := range 2 * keys {
					asked = append(asked, fmt.Appendf(nil, "key-%d", i))
				}
				for range 2 {
					found, err := s.Lookup(asked)
					require.NoError(t, err)
					for i, f := range found {
						value, is, err := s.Get(asked[i])
						require.NoError(t, err)
						require.Equal(t, swapstore.Found{Value: value, Found: is}, f, "%s", asked[i])
					}
					slices.Reverse(asked)
				}
			}
			for round := range 4 {
				for at := 0; at < keys; at += 100 {
					require.NoError(t, s.Apply(func(w swapstore.Writer) error {
						for i := at; i < at+100; i++ {
							w.Set(key(i), fmt.Appendf(nil, "%0100d", i+round))
							if i%7 == round {
								w.Delete(key(i))
							}
						}
						return nil
					}))
				}
				agree()
			}
			require.NoError(t, s.Rewrite(context.Background(), without("key-5", "key-77")))
			agree()
		})
	}
}

// reserving counts the bytes that are reserved beyond what is written.
type reserving struct {
	vfs.FS
	bytes *atomic.Int64
}

func (r reserving) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := r.FS.Create(name, category)
	return reservingFile{f, r.bytes}, err
}

func (r reserving) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := r.FS.ReuseForWrite(from, to, category)
	return reservingFile{f, r.bytes}, err
}

type reservingFile struct {
	vfs.File
	bytes *atomic.Int64
}

func (f reservingFile) Preallocate(_, length int64) error {
	f.bytes.Add(length)
	return nil
}

// A store of a few bytes took 4.5 MB, which Pebble reserved for its log.
func TestASmallStoreTakesLittleRoom(t *testing.T) {
	var reserved atomic.Int64
	s := open(t, filepath.Join(t.TempDir(), "store"), reserving{vfs.Default, &reserved})
	set(t, s, map[string]string{"a": "1"})
	set(t, s, map[string]string{"b": "1"})
	require.NoError(t, s.Rewrite(t.Context(), without()))
	set(t, s, map[string]string{"a": "2"})
	set(t, s, map[string]string{"b": "2"})
	require.Zero(t, reserved.Load())
}

// Blocks of a table end anywhere, and are written many at a time, from where a page begins: those of a store that is
// filled, and those that Pebble makes of what was gathered in memory.
func TestTablesAreWrittenPagesAtATime(t *testing.T) {
	const together, rows, rowBytes = 64 << 10, 10_000, 700
	var writes atomic.Int64
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileWrite && filepath.Ext(op.Path) == ".sst" {
			writes.Add(1)
		}
		return nil
	}))
	row := make([]byte, rowBytes)
	fill := func(from, to int) func(w swapstore.Writer) error {
		return func(w swapstore.Writer) error {
			for i := from; i < to; i++ {
				w.Set([]byte{byte(i >> 8), byte(i)}, row)
			}
			return nil
		}
	}
	few := func() {
		require.Positive(t, writes.Load())
		require.LessOrEqual(t, writes.Swap(0), int64(rows*rowBytes/together))
	}
	s, err := swapstore.Open(fs, "store", swapstore.Format{})
	require.NoError(t, err)
	for from := 0; from < rows; from += rows / 10 {
		require.NoError(t, s.Apply(fill(from, from+rows/10)))
	}
	few()
	require.NoError(t, s.Rewrite(t.Context(), func(_ swapstore.Reader, dst swapstore.Writer) error {
		return fill(0, rows)(dst)
	}))
	few()
	require.Len(t, content(t, s), rows)
	require.NoError(t, s.Close())
}
