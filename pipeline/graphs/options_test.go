package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is wrong is said at once, also what only the first receipt would
// stumble over.
func TestOptionsNameAllProblems(t *testing.T) {
	err := Options{AllowedLateness: -1, FirstTimestep: -2, VerifyTimeout: -1, MaxTimestepJump: -3}.EnsureDefaults().Validate()
	for _, want := range []string{
		"dir is empty", "receipts dir is empty", "shards is 0, must be at least 1",
		"allowed lateness is -1 timesteps", "first timestep is -2", "max timestep jump is -3, must be at least 1",
		"verify timeout is -1ns", "signing key has 0 bytes, want 64",
		"kernel set is empty", "version is empty", "client is missing",
	} {
		require.ErrorContains(t, err, want)
	}
}
