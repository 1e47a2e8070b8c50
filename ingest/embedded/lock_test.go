package embedded

import (
	"log/slog"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
)

// TestAClosedLockIsFree holds while other goroutines start processes: between its start and its
// program, a new process has a copy of each open file of its parent.
func TestAClosedLockIsFree(t *testing.T) {
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skip("this system has no program \"true\" to start")
	}
	stop, done := make(chan struct{}), sync.WaitGroup{}
	for range 2 {
		done.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = exec.CommandContext(t.Context(), program).Run()
				}
			}
		})
	}
	dir := t.TempDir()
	for range 2000 {
		lock, err := LockDir(dir)
		if err == nil {
			err = lock.Close()
		}
		if err != nil {
			close(stop)
			done.Wait()
			require.NoError(t, err)
		}
	}
	close(stop)
	done.Wait()
}

func TestLockDir_Held_IsInUse(t *testing.T) {
	dir := t.TempDir()
	lock, err := LockDir(dir)
	require.NoError(t, err)
	_, err = LockDir(dir)
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, lock.Close())
}

// What could not be stored is told until the disk takes writes again, and logged once.
func TestARefusingDiskIsTold(t *testing.T) {
	b, err := Start(t.TempDir(), Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	require.NoError(t, b.Refusing())
	b.log.Logf(kfake.LogLevelWarn, "persist batch %s-%d: %v", "t", 0, syscall.ENOSPC)
	b.dir += "/gone"
	require.ErrorContains(t, b.Refusing(), "no space left")
	b.dir = b.dir[:len(b.dir)-len("/gone")]
	require.NoError(t, b.Refusing())
	require.NoError(t, b.Refusing())
}

// A compaction that has no room is not begun: half done, it would stop the broker.
func TestACompactionNeedsRoom(t *testing.T) {
	b := &Broker{dir: t.TempDir()}
	require.NoError(t, b.roomFor(0))
	err := b.roomFor(1 << 60)
	require.ErrorIs(t, err, ErrNoRoom)
	require.ErrorIs(t, err, syscall.ENOSPC)
}
