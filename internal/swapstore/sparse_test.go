package swapstore_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
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
