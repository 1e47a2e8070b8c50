package swapstore_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
)

// What is applied ahead is read at once, and is said to be durable when a sudden stop would leave it, not before; what
// is applied later is durable later.
func TestAppliedAheadIsDurableOnceItIsSaid(t *testing.T) {
	for _, size := range []swapstore.Size{swapstore.Small(), swapstore.Busy()} {
		disk := vfs.NewCrashableMem()
		held := make(chan struct{})
		log := func(op errorfs.Op) bool { return strings.HasSuffix(op.Path, ".log") }
		slow := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if log(op) && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) {
				<-held
			}
			return nil
		}))
		s, err := swapstore.OpenSized(slow, "store", swapstore.Format{Kind: "test", Version: 1}, size)
		require.NoError(t, err)
		ended := make(chan error, 3)
		for _, key := range []string{"a", "b"} {
			require.NoError(t, s.ApplyAhead(func(w swapstore.Writer) error { return w.Set([]byte(key), []byte(key)) },
				func(err error) { ended <- err }))
			_, found, err := s.Get([]byte(key))
			require.NoError(t, err)
			require.True(t, found)
		}
		require.Empty(t, ended)
		require.Zero(t, survivors(t, disk, size))
		held <- struct{}{}
		require.NoError(t, <-ended)
		require.NotZero(t, survivors(t, disk, size))
		close(held)
		require.NoError(t, <-ended)
		require.Equal(t, 2, survivors(t, disk, size))
		refused := s.ApplyAhead(func(swapstore.Writer) error { return swapstore.ErrOrder }, func(err error) { ended <- err })
		require.ErrorIs(t, refused, swapstore.ErrOrder)
		require.NoError(t, s.Close())
		require.Empty(t, ended)
	}
}

// survivors counts the keys that a sudden stop would leave.
func survivors(t *testing.T, disk *vfs.MemFS, size swapstore.Size) (n int) {
	t.Helper()
	left := disk.CrashClone(vfs.CrashCloneCfg{})
	s, err := swapstore.OpenSized(left, "store", swapstore.Format{Kind: "test", Version: 1}, size)
	require.NoError(t, err)
	require.NoError(t, s.Scan(nil, func(_, _ []byte) error {
		n++
		return nil
	}))
	require.NoError(t, s.Close())
	return n
}
