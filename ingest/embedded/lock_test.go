package embedded

import (
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
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

// A file system without locks is not taken for a directory in use.
func TestLockError_NamesWhatFailed(t *testing.T) {
	for err, want := range map[error]error{
		syscall.EAGAIN: ErrInUse, syscall.EACCES: ErrInUse, syscall.ENOLCK: syscall.ENOLCK,
		syscall.EOPNOTSUPP: syscall.EOPNOTSUPP,
	} {
		require.ErrorIs(t, lockError(err), want)
	}
	require.NoError(t, lockError(nil))
	dir := t.TempDir()
	lock, err := LockDir(dir)
	require.NoError(t, err)
	_, err = LockDir(dir)
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, lock.Close())
}
