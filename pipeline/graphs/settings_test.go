package graphs

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/snapshot"
)

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
