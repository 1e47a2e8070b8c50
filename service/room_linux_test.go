package service_test

import (
	"io/fs"
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
	folder := filepath.Join(service.RoleDir(c.DataDir, "build"), "snapshots")
	graphs, err := filepath.Glob(filepath.Join(folder, "*.graph"))
	require.NoError(t, err)
	require.Len(t, graphs, 4)
	shards, err := filepath.Glob(filepath.Join(folder, "*.assigned"))
	require.NoError(t, err)
	require.Len(t, shards, 4)
	for _, file := range append(graphs, shards...) {
		require.Less(t, room(t, file), int64(16<<10)+2*300*4*features, file)
	}
	r.Stop()
}
