//go:build unix

package cputime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWorkUsesProcessorTime(t *testing.T) {
	before, sum := Used(), 0
	for started := time.Now(); Used()-before < 5*time.Millisecond; sum++ {
		require.Less(t, time.Since(started), 10*time.Second, "work used no processor time")
	}
	require.Positive(t, sum)
}
