package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/atomicfile"
)

// holds checks that the file is all there is in its folder.
func holds(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, content, string(got))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "something was left beside the file")
}

func TestWriteReplacesAndKeepsOnFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "file")
	require.NoError(t, atomicfile.Write(path, []byte("old"), 0o700))
	holds(t, path, "old", 0o700)
	broken := errors.New("broken")
	require.ErrorIs(t, atomicfile.WriteFrom(path, 0o700, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, broken)
	}), broken)
	holds(t, path, "old", 0o700)
	require.NoError(t, atomicfile.Write(path, []byte("new"), 0o600))
	holds(t, path, "new", 0o600)
}

func TestOneOfManyCreates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var created atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			err := atomicfile.Create(path, []byte("content"), 0o600)
			if err == nil {
				created.Add(1)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, int32(1), created.Load())
	holds(t, path, "content", 0o600)
}

func TestCreateNeedsItsFolder(t *testing.T) {
	err := atomicfile.Create(filepath.Join(t.TempDir(), "none", "file"), nil, 0o600)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Files of one folder are written together, each in place of the one that was there.
func TestManyFilesTogether(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	files := make(map[string][]byte)
	for i := range 40 {
		files[fmt.Sprint(i)] = []byte(fmt.Sprint("content ", i))
	}
	require.NoError(t, atomicfile.WriteAll(folder, map[string][]byte{"7": []byte("old"), "other": nil}, 0o600))
	require.NoError(t, atomicfile.WriteAll(folder, files, 0o600))
	files["other"] = []byte{}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, len(files), "something was left beside the files")
	for name, content := range files {
		got, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, content, got, name)
	}
	require.Error(t, atomicfile.WriteAll(folder, map[string][]byte{"none/file": nil}, 0o600))
}
