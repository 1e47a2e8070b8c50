package graphs

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/partition"
	"lethe/partition/repair"
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

// Timesteps to come may be cut in another way, but receipts say of all of them whether
// shards follow from ids alone.
func TestShardsStayIndependentOrNot(t *testing.T) {
	r := repair.Defaults()
	for _, kind := range []struct{ from, to, want string }{
		{partition.MethodGPFBFast, partition.MethodRandom, ""},
		{partition.MethodGPFBFast, partition.MethodIndependent, "partition.method was another, now it is independent"},
		{partition.MethodIndependent, partition.MethodIndependent, ""},
		{partition.MethodIndependent, partition.MethodGPFBFast, "partition.method was independent, now it is another"},
	} {
		store, err := snapshot.Open("graphs", snapshot.Options{
			Config: snapshot.Defaults(), Secret: lethe.Secret{1}, FS: vfs.NewMem(), TransactionPartitions: 1, LabelPartitions: 1,
		})
		require.NoError(t, err)
		marks := store.Marks()
		require.NoError(t, keepSettings(marks, partition.DefaultsOf(kind.from), r))
		err = CheckSettings(marks, partition.DefaultsOf(kind.to), r)
		require.NoError(t, store.Close())
		if kind.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrSettings)
		require.ErrorContains(t, err, kind.want)
	}
}
