package processors_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/processors"
)

// More may run than there are processors, unless whoever started the program has said how many.
func TestWhoWaitsForTheDiskLeavesTheProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	t.Setenv("GOMAXPROCS", "3")
	processors.Spare()
	require.Equal(t, before, runtime.GOMAXPROCS(0))
	t.Setenv("GOMAXPROCS", "")
	processors.Spare()
	require.Greater(t, runtime.GOMAXPROCS(0), before)
}
