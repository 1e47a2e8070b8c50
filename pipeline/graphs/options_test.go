package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions/coordinator"
	"lethe/snapshot"
)

// Whatever is wrong is said at once, also what would otherwise fail only at the
// first receipt.
func TestOptionsNameAllProblems(t *testing.T) {
	err := Options{
		Snapshot: snapshot.Config{AllowedLatenessTimesteps: -2, FirstTimestep: -2, MaxTimestepJump: -3},
		Erasure:  coordinator.Config{VerifyTimeout: -1},
	}.agreed().Validate()
	for _, want := range []string{
		`dir is ""`, `receipts_dir is ""`, "shards is 0, want 1 to 65536",
		"allowed_lateness_timesteps is -2", "first_timestep is -2", "max_timestep_jump is -3", "max_record_bytes is 0",
		`verify_timeout is "-1ns"`, "signing key is 0, want 64",
		`kernel set is ""`, `version is ""`, "bus is <nil>", "clock is <nil>", "logger is <nil>",
	} {
		require.ErrorContains(t, err, want)
	}
}
