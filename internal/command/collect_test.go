package command

import (
	"math"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMemoryLimit_GrowsWithLiveMemory(t *testing.T) {
	require.EqualValues(t, smallMemoryBytes, memoryLimit(0))
	require.EqualValues(t, smallMemoryBytes, memoryLimit(500<<20))
	require.EqualValues(t, 3<<30, memoryLimit(2<<30))
}

func TestCollectSeldom(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	t.Setenv("GOGC", "70")
	CollectSeldom(t.Context())
	require.Equal(t, 100, debug.SetGCPercent(100), "the environment's setting counts")

	t.Setenv("GOGC", "")
	CollectSeldom(t.Context())
	require.Equal(t, collectPercent, debug.SetGCPercent(collectPercent))
	require.Eventually(t, func() bool {
		return debug.SetMemoryLimit(-1) >= smallMemoryBytes &&
			debug.SetMemoryLimit(-1) < math.MaxInt64
	}, time.Second, time.Millisecond)
}
