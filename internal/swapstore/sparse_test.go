package swapstore_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
)

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
	require.NoError(t, swapstore.Fill(t.Context(), fs, "filled", swapstore.Format{}, fill(0, rows)))
	few()
	for _, dir := range []string{"filled", "written"} {
		s, err := swapstore.Open(fs, dir, swapstore.Format{})
		require.NoError(t, err)
		for from := 0; from < rows; from += rows / 10 {
			require.NoError(t, s.Apply(fill(from, from+rows/10)))
		}
		require.Len(t, content(t, s), rows)
		require.NoError(t, s.Close())
		few()
	}
}
