package graphs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions/search"
)

// A batch that waits for others begins when its time has come, not at the next tick.
func TestTheRoleIsWokenWhenTimeHasPassed(t *testing.T) {
	b := newAsyncSearches(search.Searcher{}, Options{Beside: inGoroutine}.agreed())
	b.Wake(time.Millisecond)
	b.Wake(time.Millisecond)
	select {
	case <-b.wakes:
	case <-time.After(10 * time.Second):
		require.Fail(t, "not woken")
	}
}
