package swapstore_test

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
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
