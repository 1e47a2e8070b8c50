package service_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/service"
	"lethe/service/servicetest"
)

// A damaged file is named in one line with what to do, and the folder that can be
// rebuilt is rebuilt once it is removed.
func TestADamagedFolderIsNamedWithItsRemedy(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, c)
	before := r.Replay(servicetest.SmallStream(t, 3, 40, 3)).EnsembleHash
	r.Stop()
	for _, damage := range []struct{ files, want string }{
		{"score/state/CURRENT-GEN", "remove the folder " + filepath.Join(c.DataDir, "score")},
		{"score/state/values/m-*", "remove the folder " + filepath.Join(c.DataDir, "score")},
		{"train/shard-0001/CURRENT-GEN", "remove the folder " + filepath.Join(c.DataDir, "train")},
		{"build/ledger/CURRENT-GEN", "put the folder " + filepath.Join(c.DataDir, "build") + " back from a copy"},
		{"build/snapshots/staging/CURRENT-GEN", "put the folder " + filepath.Join(c.DataDir, "build")},
		{"broker/log/partitions/*models*-0/*.dat", "restore the file from a copy"},
	} {
		files, err := filepath.Glob(filepath.Join(c.DataDir, damage.files))
		require.NoError(t, err)
		require.NotEmpty(t, files, damage.files)
		whole, err := os.ReadFile(files[0])
		require.NoError(t, err)
		broken := append([]byte{}, whole...)
		broken[len(broken)/2] ^= 0x40
		require.NoError(t, os.WriteFile(files[0], broken, 0o600))
		_, err = service.New(t.Context(), service.Options{
			Config: c, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
		})
		require.ErrorContains(t, err, damage.want, damage.files)
		require.NoError(t, os.WriteFile(files[0], whole, 0o600))
	}
	require.NoError(t, os.RemoveAll(filepath.Join(c.DataDir, "score")))
	require.NoError(t, os.RemoveAll(filepath.Join(c.DataDir, "train")))
	r = start(t, c)
	after := r.Await(func(s *service.Status) bool { return s.TrainedThrough == 3 })
	require.Equal(t, before, after.EnsembleHash)
}
