package swapstore_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
)

// filled makes a store of tables alone.
func filled(t *testing.T, fs vfs.FS, dir string, pairs ...string) {
	t.Helper()
	err := swapstore.Fill(t.Context(), fs, dir, swapstore.Format{Kind: "test", Version: 1},
		func(w swapstore.Writer) error {
			for i := 0; i < len(pairs); i += 2 {
				w.Set([]byte(pairs[i]), []byte(pairs[i+1]))
			}
			return nil
		})
	require.NoError(t, err)
}

func TestAFilledStoreIsADatabaseOnceItIsOpened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "store")
	filled(t, vfs.Default, dir, "a", "1", "b", "canary-canary", "c", "3")
	require.Len(t, filesWith(t, dir, []byte("canary-canary")), 1, "it is written once")
	for range 2 {
		s, err := swapstore.Open(vfs.Default, dir, swapstore.Format{Kind: "test", Version: 1})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a": "1", "b": "canary-canary", "c": "3"}, content(t, s))
		require.NoError(t, s.Close())
	}
	require.NotEmpty(t, filesWith(t, dir, []byte("canary-canary")), "names that went do not empty what has another")
	_, err := swapstore.Open(vfs.Default, dir, swapstore.Format{Kind: "test", Version: 2})
	require.ErrorIs(t, err, swapstore.ErrFormat)
	s, err := swapstore.Open(vfs.Default, dir, swapstore.Format{Kind: "test", Version: 1})
	require.NoError(t, err)
	require.NoError(t, s.Rewrite(t.Context(), without("b")))
	require.NoError(t, s.Close())
	require.Empty(t, filesWith(t, dir, []byte("canary-canary")))

	empty := filepath.Join(t.TempDir(), "store")
	filled(t, vfs.Default, empty)
	s, err = swapstore.Open(vfs.Default, empty, swapstore.Format{})
	require.NoError(t, err)
	require.Empty(t, content(t, s))
	require.NoError(t, s.Close())
}

func TestFillRefusesWhatIsThereAndKeysOutOfOrder(t *testing.T) {
	fs := vfs.NewMem()
	filled(t, fs, "store", "a", "1")
	nothing := func(swapstore.Writer) error { return nil }
	require.Error(t, swapstore.Fill(t.Context(), fs, "store", swapstore.Format{}, nothing))
	err := swapstore.Fill(t.Context(), fs, "other", swapstore.Format{}, func(w swapstore.Writer) error {
		w.Set([]byte("b"), nil)
		w.Set([]byte("a"), nil)
		return nil
	})
	require.ErrorIs(t, err, swapstore.ErrOrder)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, swapstore.Fill(cancelled, fs, "third", swapstore.Format{}, nothing), context.Canceled)
}

// What was filled is there whenever the machine stops afterwards, also while a database is made of it, and whichever of
// the names that were not synced are kept.
func TestACrashWhileADatabaseIsMadeOfTablesLosesNothing(t *testing.T) {
	want := map[string]string{"a": "1", "b": "2"}
	crashed := 0
	for seed := range uint64(20) {
		disk := vfs.NewCrashableMem()
		filled(t, disk, "data/store", "a", "1", "b", "2")
		var kept []*vfs.MemFS
		var mu sync.Mutex
		keep := func() {
			mu.Lock()
			defer mu.Unlock()
			rng := rand.New(rand.NewPCG(seed, uint64(len(kept))))
			kept = append(kept, disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: int(seed % 3 * 50), RNG: rng}))
		}
		keep()
		fs := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileClose {
				keep()
			}
			return nil
		}))
		s, err := swapstore.Open(fs, "data/store", swapstore.Format{})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		crashed += len(kept)
		for at, survivor := range kept {
			s, err := swapstore.Open(survivor, "data/store", swapstore.Format{})
			require.NoError(t, err, "seed %d, write %d of %d", seed, at, len(kept))
			require.Equal(t, want, content(t, s), "seed %d, write %d of %d", seed, at, len(kept))
			set(t, s, map[string]string{"later": "yes"})
			require.NoError(t, s.Close())
			names, err := survivor.List("data/store")
			require.NoError(t, err)
			require.Len(t, names, 4, "%v", names) // pointer, format, lock, one generation
		}
	}
	require.Greater(t, crashed, 300)
}
