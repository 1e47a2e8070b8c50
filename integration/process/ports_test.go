package process_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
)

// A port is given to one test at a time.
func TestFreePortsInRow_GivesNoPortTwice(t *testing.T) {
	t.Parallel()
	taken := make(map[int]bool)
	for range 200 {
		first := process.FreePortsInRow(t, 3)
		for i := range 3 {
			require.False(t, taken[first+i], first+i)
			taken[first+i] = true
		}
	}
}
