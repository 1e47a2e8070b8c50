package swapstore_test

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

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
			require.NoError(t, s.ApplyAhead(func(w swapstore.Writer) error { w.Set([]byte(key), []byte(key)); return nil },
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

// What is applied behind something is not before that is done, and neither is what comes after it; if that fails,
// nothing can be applied any more.
func TestAppliedBehindSomethingWaitsForIt(t *testing.T) {
	disk := vfs.NewCrashableMem()
	s, err := swapstore.Open(disk, "store", swapstore.Format{Kind: "test", Version: 1})
	require.NoError(t, err)
	set := func(key string) func(w swapstore.Writer) error {
		return func(w swapstore.Writer) error { w.Set([]byte(key), nil); return nil }
	}
	first, ended := make(chan error), make(chan error, 2)
	end := func(err error) { ended <- err }
	require.NoError(t, swapstore.ApplyAheadBehind(s, func() error { return <-first }, set("a"), end))
	require.NoError(t, s.ApplyAhead(set("b"), end))
	require.Zero(t, survivors(t, disk, swapstore.Small()))
	require.Empty(t, ended)
	first <- nil
	require.NoError(t, errors.Join(<-ended, <-ended))
	require.Equal(t, 2, survivors(t, disk, swapstore.Small()))

	failure := errors.New("no")
	require.NoError(t, swapstore.ApplyAheadBehind(s, func() error { return failure }, set("c"), end))
	require.ErrorIs(t, <-ended, failure)
	require.ErrorIs(t, s.Apply(set("d")), failure)
	_, found, err := s.Get([]byte("c"))
	require.NoError(t, err)
	require.False(t, found)
	require.NoError(t, s.Close())
}

// What is applied ahead holds up neither its writer nor who reads keys of other kinds. Who reads one that changes,
// writes, or wants all to be durable finds it changed, in the order in which it was written.
func TestWhatIsAppliedAheadHoldsUpNobodyElse(t *testing.T) {
	disk := vfs.NewCrashableMem()
	var holds atomic.Bool
	held := make(chan struct{})
	slow := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		begins := op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite
		if begins && strings.HasSuffix(op.Path, ".log") && holds.Load() {
			<-held // a change that fills the memory table waits for the next log
		}
		return nil
	}))
	s, err := swapstore.Open(slow, "store", swapstore.Format{Kind: "test", Version: 1})
	require.NoError(t, err)
	set := func(key string, value []byte) func(w swapstore.Writer) error {
		return func(w swapstore.Writer) error { w.Set([]byte(key), value); return nil }
	}
	require.NoError(t, s.Apply(set("b", []byte("before"))))
	holds.Store(true)
	const large = 1 << 20
	ended := make(chan error, 1)
	require.NoError(t, s.ApplyAhead(set("a1", make([]byte, large)), func(err error) { ended <- err }))
	require.NoError(t, s.ApplyUnsynced(set("a1", []byte("last"))))
	require.NoError(t, s.ApplyUnsynced(func(w swapstore.Writer) error {
		return swapstore.DeletePrefix(w, []byte("c"))
	}))

	for _, kind := range []string{"b", "d"} {
		_, _, err := s.Get([]byte(kind))
		require.NoError(t, err)
		require.NoError(t, s.Scan([]byte(kind), func(_, _ []byte) error { return nil }))
		_, err = s.Lookup([][]byte{[]byte(kind)})
		require.NoError(t, err)
	}
	require.Empty(t, ended)

	var working errgroup.Group
	working.Go(func() error {
		value, _, err := s.Get([]byte("a1"))
		assert.Equal(t, "last", string(value))
		return err
	})
	working.Go(func() error {
		var all []string
		err := s.Scan(nil, func(key, _ []byte) error {
			all = append(all, string(key))
			return nil
		})
		assert.Subset(t, all, []string{"a1", "b"})
		return err
	})
	working.Go(func() error {
		found, err := s.Lookup([][]byte{[]byte("a1"), []byte("b")})
		if err == nil {
			assert.True(t, found[0].Found)
		}
		return err
	})
	working.Go(s.Sync)
	working.Go(func() error { return s.Apply(set("a2", nil)) })
	holds.Store(false)
	close(held)
	require.NoError(t, working.Wait())
	require.NoError(t, <-ended)
	require.Equal(t, 3, survivors(t, disk, swapstore.Small()))
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.ApplyUnsynced(set("e", nil)), swapstore.ErrClosed)
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

// A batch that finds none to be used again, as while those before it wait for the disk, has room for what the largest
// had: what outgrows its memory is copied, and takes twice as much again.
func TestABatchHasRoomForTheLargest(t *testing.T) {
	s, err := swapstore.OpenSized(vfs.NewMem(), "store", swapstore.Format{}, swapstore.Busy())
	require.NoError(t, err)
	value := make([]byte, 1000)
	fill := func(w swapstore.Writer) error {
		for i := range 3000 {
			w.Set([]byte{byte(i >> 8), byte(i)}, value)
		}
		return nil
	}
	require.NoError(t, s.Apply(fill))
	s.DropSpares()
	require.NoError(t, s.Apply(func(w swapstore.Writer) error {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := fill(w)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
		return err
	}))
	require.NoError(t, s.Close())
}
