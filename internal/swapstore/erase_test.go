package swapstore_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/residue"
	"lethe/internal/swapstore"
)

// filesWith searches every file under a folder, and every name.
func filesWith(t *testing.T, root string, needle []byte) []string {
	t.Helper()
	report, err := residue.Search([]residue.Form{{Name: "needle", Bytes: needle}}, root)
	require.NoError(t, err)
	var paths []string
	for _, h := range report.Hits {
		paths = append(paths, h.Path)
	}
	return paths
}

// canary is a key and a value among thousands that share its prefix.
type canary struct{ key, value []byte }

func fillWithCanary(t *testing.T, dir string) (*swapstore.Store, canary) {
	t.Helper()
	s := open(t, dir, vfs.Default)
	var c canary
	for batch := range 8 {
		require.NoError(t, s.Apply(func(w swapstore.Writer) error {
			for i := range 500 {
				n := batch*500 + i
				key := fmt.Appendf(nil, "row/shared/prefix/%016x", uint64(n)*0x9e3779b97f4a7c15)
				value := bytes.Repeat(binary.BigEndian.AppendUint64(nil, uint64(n)*0xbf58476d1ce4e5b9), 80)
				if n == 2345 {
					c = canary{key, value}
				}
				w.Set(key, value)
			}
			return nil
		}))
	}
	return s, c
}

func isTable(name string) bool { return filepath.Ext(name) == ".sst" }

func TestSearchOfFilesFindsWholeKeysAndValues(t *testing.T) {
	dir := t.TempDir()
	s, c := fillWithCanary(t, dir)
	require.NoError(t, s.Rewrite(context.Background(), without()))
	for name, needle := range map[string][]byte{"key": c.key, "value": c.value} {
		hits := filesWith(t, dir, needle)
		require.NotEmpty(t, hits, "%s is stored in pieces: a search of the files would prove nothing", name)
		require.True(t, slices.ContainsFunc(hits, isTable), hits)
	}
}

func TestRewriteLeavesNoByte(t *testing.T) {
	dir := t.TempDir()
	s, c := fillWithCanary(t, dir)
	require.NotEmpty(t, filesWith(t, dir, c.key))
	require.NoError(t, s.Rewrite(context.Background(), without(string(c.key))))
	require.Empty(t, filesWith(t, dir, c.key))
	require.Empty(t, filesWith(t, dir, c.value))
	require.Len(t, content(t, s), 3999)
	require.NoError(t, s.Close())
	require.Empty(t, filesWith(t, dir, c.key))
}

// This is why Rewrite exists: after a Delete, Get finds nothing, and the bytes
// are still in the tables.
func TestDeleteLeavesTheBytes(t *testing.T) {
	dir := t.TempDir()
	s, c := fillWithCanary(t, dir)
	require.NoError(t, s.Rewrite(context.Background(), without()))
	remove(t, s, c.key)
	_, found, err := s.Get(c.key)
	require.NoError(t, err)
	require.False(t, found)
	require.NoError(t, s.Close())
	for name, needle := range map[string][]byte{"key": c.key, "value": c.value} {
		hits := filesWith(t, dir, needle)
		require.True(t, slices.ContainsFunc(hits, isTable), "%s: %v", name, hits)
	}
}
