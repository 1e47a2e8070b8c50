package snapshot

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
)

func readMark(t *testing.T, fs vfs.FS, folder string) string {
	t.Helper()
	f, err := fs.Open(fs.PathJoin("data", folder, "FORMAT"))
	require.NoError(t, err)
	defer f.Close()
	content, err := io.ReadAll(f)
	require.NoError(t, err)
	return string(content)
}

func writeMark(t *testing.T, fs vfs.FS, folder, content string) {
	t.Helper()
	f, err := fs.Create(fs.PathJoin("data", folder, "FORMAT"), vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = f.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// twoTimesteps leaves the stores of two closed timesteps.
func twoTimesteps(t *testing.T) vfs.FS {
	t.Helper()
	fs := vfs.NewMem()
	s := openMem(t, fs, 1)
	fill(t, s, 3)
	require.NoError(t, s.Close())
	return fs
}

// Stores that were written before there were marks are read, and marked: those of
// timesteps when they are first read, staging at once.
func TestStoresWithoutAFormatAreReadAndMarked(t *testing.T) {
	fs := twoTimesteps(t)
	folders := map[string]string{
		stagingName: "snapshot-staging/4\n", storeName(0): "snapshot-graph/1\n", storeName(1): "snapshot-graph/1\n",
	}
	for folder, want := range folders {
		require.Equal(t, want, readMark(t, fs, folder))
		require.NoError(t, fs.Remove(fs.PathJoin("data", folder, "FORMAT")))
	}
	s := openMem(t, fs, 1)
	for step := range lethe.Timestep(2) {
		_, err := s.Load(step)
		require.NoError(t, err)
	}
	for folder, want := range folders {
		require.Equal(t, want, readMark(t, fs, folder))
	}
}

// A store of a later format is refused when the stores are opened, in one line that
// names both formats, and is left as it is.
func TestStoresOfALaterFormatAreRefused(t *testing.T) {
	for folder, format := range map[string]swapstore.Format{
		stagingName: stagingFormat(), storeName(1): graphFormat(),
	} {
		fs := twoTimesteps(t)
		later := swapstore.Format{Kind: format.Kind, Version: format.Version + 1}
		writeMark(t, fs, folder, later.String()+"\n")
		_, err := Open("data", optionsOf(fs))
		require.ErrorIs(t, err, swapstore.ErrFormat)
		require.ErrorContains(t, err, `"`+later.String()+`", this program reads "`+format.String()+`"`)
		require.NotContains(t, err.Error(), "\n")
		require.Equal(t, later.String()+"\n", readMark(t, fs, folder))

		writeMark(t, fs, folder, format.String()+"\n")
		require.NoError(t, openMem(t, fs, 1).Close(), "a refusal changes nothing")
	}
}

// Staging without a mark whose own value names another version is refused too.
func TestStagingWithoutAFormatTellsItsVersion(t *testing.T) {
	fs := twoTimesteps(t)
	s := openMem(t, fs, 1)
	value, _, err := s.staging.Get([]byte{kindFormat})
	require.NoError(t, err)
	value[0] = stagingVersion + 1
	require.NoError(t, s.staging.Apply(func(w swapstore.Writer) error { return w.Set([]byte{kindFormat}, value) }))
	require.NoError(t, s.Close())
	require.NoError(t, fs.Remove(fs.PathJoin("data", stagingName, "FORMAT")))

	_, err = Open("data", optionsOf(fs))
	require.ErrorIs(t, err, swapstore.ErrFormat)
	require.ErrorContains(t, err, "staging of version 5, this program reads 4")
	require.NotContains(t, err.Error(), "\n")
}

// Staging of earlier versions counts how many transactions have a content, in its tables and its log. Opened, it knows
// of those that nobody has any more that they may be in its files, and counts no more.
func TestCountsOfContentsAreDropped(t *testing.T) {
	const counted = 25_000
	for version := byte(1); version < stagingVersion; version++ {
		fs := vfs.NewMem()
		s := openMem(t, fs, 1, 1)
		take(t, s, 0, "a", 1)
		mark, _, err := s.staging.Get([]byte{kindFormat})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		pointer, err := fs.Open(fs.PathJoin("data", stagingName, "CURRENT-GEN"))
		require.NoError(t, err)
		generation, err := io.ReadAll(pointer)
		require.NoError(t, err)
		folder := fs.PathJoin("data", stagingName, strings.TrimSpace(string(generation)))
		db, err := pebble.Open(folder, &pebble.Options{FS: fs})
		require.NoError(t, err)
		add := func(hash contentHash, n int32) {
			value := binary.BigEndian.AppendUint32(nil, uint32(n))
			require.NoError(t, db.Merge(append([]byte{kindCount}, hash[:]...), value, pebble.NoSync))
		}
		add(hashContent(s.staging.options.Secret, []float32{1}), 1)
		add(hashContent(s.staging.options.Secret, []float32{2}), 1)
		add(hashContent(s.staging.options.Secret, []float32{2}), -1)
		for i := range uint64(counted) {
			add(contentHash(binary.BigEndian.AppendUint64(make([]byte, 8), i)), int32(i%2))
		}
		require.NoError(t, db.Set([]byte{kindCounted}, nil, pebble.NoSync))
		mark[0] = version
		require.NoError(t, db.Set([]byte{kindFormat}, mark, pebble.Sync))
		require.NoError(t, db.Close())
		earlier := swapstore.Format{Kind: stagingFormat().Kind, Version: int(version)}
		writeMark(t, fs, stagingName, earlier.String()+"\n")

		s = openMem(t, fs, 1, 1)
		require.Equal(t, stagingFormat().String()+"\n", readMark(t, fs, stagingName))
		kinds := make(map[byte]int)
		require.NoError(t, s.staging.Scan(nil, func(key, _ []byte) error {
			kinds[key[0]]++
			return nil
		}))
		require.Equal(t, counted/2+1, kinds[kindReplaced])
		require.Equal(t, 1, kinds[kindIndex])
		require.NotContains(t, kinds, byte(kindCount))
		require.NotContains(t, kinds, byte(kindCounted))
		for features, want := range map[float32]bool{1: true, 2: true, 3: false} {
			require.Equal(t, want, hasContent(t, s, features), "version %d, %v", version, features)
		}
		require.NoError(t, ScrubAtOnce(t.Context(), s))
		require.False(t, hasContent(t, s, 2))
		require.NoError(t, s.Close())
	}
}
