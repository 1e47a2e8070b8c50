package embedded

import (
	"os/exec"
	"sync"
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

func TestLockDir_Held_IsInUse(t *testing.T) {
	dir := t.TempDir()
	lock, err := LockDir(dir)
	require.NoError(t, err)
	_, err = LockDir(dir)
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, lock.Close())
}
