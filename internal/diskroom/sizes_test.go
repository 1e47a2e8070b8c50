package diskroom_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/internal/diskroom"
)

func TestSizes_AreByNameAndMeasuredOnceInAWhile(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(0, 0)
	write := func(path string, bytes int) {
		path = filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, make([]byte, bytes), 0o600))
	}
	write("train/shard/a", 5)
	write("train/b", 2)
	write("instance", 1)
	var sizes diskroom.Sizes
	want := map[string]int64{"train": 7, "instance": 1}
	require.Equal(t, want, sizes.Of(dir, now))
	write("view/c", 3)
	require.Equal(t, want, sizes.Of(dir, now.Add(9*time.Second)))
	want["view"] = 3
	require.Equal(t, want, sizes.Of(dir, now.Add(10*time.Second)))
	require.NoError(t, os.RemoveAll(dir))
	require.Empty(t, sizes.Of(dir, now.Add(20*time.Second)))
	_, err := diskroom.SizesOf(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
