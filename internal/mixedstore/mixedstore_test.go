package mixedstore_test

import (
	"errors"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/mixedstore"
	"lethe/internal/residue"
	"lethe/internal/swapstore"
)

var format = swapstore.Format{Kind: "test", Version: 2}

func open(t require.TestingT, fs vfs.FS, dir string) *mixedstore.Store {
	s, err := mixedstore.Open(fs, dir, format, "f/", "g/")
	require.NoError(t, err)
	return s
}

// content is what a scan finds, in its order.
func content(t require.TestingT, s *mixedstore.Store, prefix string) (keys []string, values map[string]string) {
	values = make(map[string]string)
	require.NoError(t, s.Scan([]byte(prefix), func(key, value []byte) error {
		keys = append(keys, string(key))
		values[string(key)] = string(value)
		return nil
	}))
	return keys, values
}

func set(t require.TestingT, s *mixedstore.Store, key, value string) {
	require.NoError(t, swapstore.Set(s, []byte(key), []byte(value)))
}

// Files and other keys are one store: a map that survives being opened again.
func TestAStoreIsAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs, want := vfs.NewMem(), map[string]string{}
		s := open(rt, fs, "store")
		key := rapid.Custom(func(rt *rapid.T) string {
			return rapid.SampledFrom([]string{"a", "f/", "fa", "g/", "h/"}).Draw(rt, "prefix") +
				rapid.StringMatching(`[/\x00-\x02]{0,2}`).Draw(rt, "rest")
		})
		for range rapid.IntRange(1, 6).Draw(rt, "batches") {
			require.NoError(rt, s.Apply(func(w swapstore.Writer) error {
				for range rapid.IntRange(0, 4).Draw(rt, "changes") {
					k, v := key.Draw(rt, "key"), rapid.String().Draw(rt, "value")
					if rapid.Bool().Draw(rt, "delete") {
						delete(want, k)
						w.Delete([]byte(k))
						continue
					}
					want[k] = v
					w.Set([]byte(k), []byte(v))
				}
				return nil
			}))
			if rapid.Bool().Draw(rt, "reopen") {
				require.NoError(rt, s.Close())
				s = open(rt, fs, "store")
			}
		}
		keys, values := content(rt, s, "")
		require.Equal(rt, want, values)
		require.IsIncreasing(rt, append([]string{""}, keys...))
		for k, v := range want {
			got, found, err := s.Get([]byte(k))
			require.NoError(rt, err)
			require.True(rt, found)
			require.Equal(rt, v, string(got))
		}
		require.NoError(rt, s.Close())
	})
}

// A value that was replaced or deleted is in no file, and no other value was
// written again for that.
func TestOneValueIsForgottenAlone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, vfs.Default, dir)
	needle := []byte("what is to be forgotten")
	set(t, s, "f/1", string(needle))
	set(t, s, "f/2", string(needle))
	set(t, s, "f/3", "what stays")
	stays, err := os.Stat(dir + "/values/f-33")
	require.NoError(t, err)
	require.NoError(t, s.Apply(func(w swapstore.Writer) error {
		w.Set([]byte("f/1"), []byte("another"))
		w.Delete([]byte("f/2"))
		return nil
	}))
	report, err := residue.Search([]residue.Form{{Name: "needle", Bytes: needle}}, dir)
	require.NoError(t, err)
	require.Empty(t, report.Hits)
	after, err := os.Stat(dir + "/values/f-33")
	require.NoError(t, err)
	require.True(t, os.SameFile(stays, after))
	require.NoError(t, s.Close())
}

// A failed function changes nothing.
func TestAFailedChangeIsNone(t *testing.T) {
	s := open(t, vfs.NewMem(), "store")
	failed := errors.New("failed")
	require.ErrorIs(t, s.Apply(func(w swapstore.Writer) error {
		w.Set([]byte("f/1"), nil)
		w.Set([]byte("a"), nil)
		return failed
	}), failed)
	_, values := content(t, s, "")
	require.Empty(t, values)
	require.NoError(t, s.Close())
}

// Killed at any write, a change has come to be in its order: files set, other keys,
// files deleted; what was half written is swept away.
func TestAKilledChangeIsTheBeginningOfOne(t *testing.T) {
	for at := 1; ; at++ {
		disk, killed, seen, armed := vfs.NewCrashableMem(), (*vfs.MemFS)(nil), 0, false
		s := open(t, hook{disk, func() {
			if armed {
				seen++
			}
			if armed && seen == at {
				killed = disk.CrashClone(vfs.CrashCloneCfg{})
			}
		}}, "store")
		set(t, s, "f/old", "1")
		armed = true
		require.NoError(t, s.Apply(func(w swapstore.Writer) error {
			w.Set([]byte("f/new"), []byte("2"))
			w.Set([]byte("a"), []byte("new"))
			w.Delete([]byte("f/old"))
			return nil
		}))
		armed = false
		require.NoError(t, s.Close())
		if killed == nil {
			require.Greater(t, at, 3, "too few writes were met")
			return
		}
		s = open(t, killed, "store")
		_, values := content(t, s, "")
		_, old := values["f/old"]
		_, other := values["a"]
		_, fresh := values["f/new"]
		require.True(t, old || other, "write %d: deleted before the other keys were changed", at)
		require.True(t, fresh || !other, "write %d: the other keys were changed before files were set", at)
		require.NoError(t, s.Close())
	}
}

// hook calls a function before every file that is created, renamed or removed.
type hook struct {
	vfs.FS
	before func()
}

func (h hook) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	h.before()
	return h.FS.Create(name, category)
}

func (h hook) Rename(from, to string) error {
	h.before()
	return h.FS.Rename(from, to)
}

func (h hook) Remove(name string) error {
	h.before()
	return h.FS.Remove(name)
}
