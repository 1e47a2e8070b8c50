package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/pipeline/wire"
)

func TestKeyRoundTrip(t *testing.T) {
	kinds := []wire.Kind{wire.KindSnapshot, wire.KindManifest, wire.KindSlice, wire.KindModel}
	rapid.Check(t, func(rt *rapid.T) {
		k := wire.Key{
			Kind:     rapid.SampledFrom(kinds).Draw(rt, "kind"),
			Timestep: lethe.Timestep(rapid.Int64Min(0).Draw(rt, "timestep")),
		}
		if k.Kind == wire.KindSlice || k.Kind == wire.KindModel {
			k.Shard = lethe.ShardID(rapid.Uint32().Draw(rt, "shard"))
		}
		back, err := wire.ParseKey(k.String())
		require.NoError(rt, err)
		require.Equal(rt, k, back)
	})
}

func TestParseKeyRefusesWhatStringDoesNotWrite(t *testing.T) {
	for _, text := range []string{
		"", "slice", "slice/1", "slice/1/2/3", "slice/-1/2", "slice/4294967296/2", "slice/1/x", "snapshot",
		"snapshot/1/2", "snapshot/", "manifest/9223372036854775808", "tensor/1",
	} {
		_, err := wire.ParseKey(text)
		require.Error(t, err, "%q", text)
	}
}

// Slices and models of a shard must meet in one partition, or their order is
// lost.
func TestPartitionOfDependsOnTheShardOnly(t *testing.T) {
	seen := make(map[int]bool)
	for shard := range lethe.ShardID(20) {
		p := wire.PartitionOf(shard, 4)
		require.Less(t, p, 4)
		seen[p] = true
	}
	require.Len(t, seen, 4, "partitions are left unused")
}
