package service_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/service"
	"lethe/service/servicetest"
)

// room is what the files below a folder take on the disk, reserved blocks included.
func room(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	}))
	return bytes
}

// A closed timestep takes room in proportion to what it holds: each took 4.5 MB, reserved by its
// store, for 78 KB (K9).
func TestSmallTimestepsTakeLittleRoom(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, c)
	stream := servicetest.SmallStream(t, 4, 300, 3)
	r.Replay(stream)
	const features = 12 // of smallStream
	stores, err := filepath.Glob(filepath.Join(service.RoleDir(c.DataDir, "build"), "snapshots", "*"))
	require.NoError(t, err)
	held := 0
	for _, dir := range stores {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || filepath.Base(dir) == "staging" {
			continue
		}
		held++
		require.Less(t, room(t, dir), int64(128<<10)+10*300*4*features, dir)
	}
	require.Equal(t, 4, held)
	r.Stop()
}
