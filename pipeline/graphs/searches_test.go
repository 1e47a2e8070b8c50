package graphs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions/coordinator"
)

// A batch that waits for others begins when its time has come, not at the next tick.
func TestTheRoleIsWokenWhenTimeHasPassed(t *testing.T) {
	b := newAsyncSearches(coordinator.Searcher{}, Options{Beside: inGoroutine})
	b.Wake(time.Millisecond)
	b.Wake(time.Millisecond)
	select {
	case <-b.wakes:
	case <-time.After(10 * time.Second):
		require.Fail(t, "not woken")
	}
}
