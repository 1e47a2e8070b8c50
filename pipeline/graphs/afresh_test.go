package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// partitionedAfresh has a settled and a closed timestep, and an erasure at scope partition.
func partitionedAfresh(s *simulation) []func() {
	s.fill(1)
	s.settle(1)
	s.fill(2)
	return s.erasingAt(lethe.ScopePartition, transactionID(1, 0), transactionID(2, 1))
}

// At scope partition the slices of a timestep are, byte for byte, those of a deployment that
// never saw the targets: nothing is left of what these had to do with who is where.
func TestAtScopePartitionSlicesAreThoseOfAStreamWithoutTheTargets(t *testing.T) {
	t.Parallel()
	got, _ := simulate(t, partitionedAfresh, 0, false).published(bus.Slices)
	want, _ := simulate(t, func(s *simulation) []func() {
		s.leaveOut = transactionID(1, 0)
		s.fill(1)
		s.settle(1)
		s.leaveOut = transactionID(2, 1)
		s.fill(2)
		return s.erasing("nobody")
	}, 0, false).published(bus.Slices)
	moved := make(map[lethe.Pseudonym]lethe.ShardID)
	for shard := range lethe.ShardID(shards) {
		key := wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: 1}
		require.Equal(t, want[key].Payload, got[key].Payload, "shard %d", shard)
		slice, err := canonical.DecodeSlice(got[key].Payload)
		require.NoError(t, err)
		for _, n := range slice.Nodes {
			moved[n] = shard
		}
	}
	kept, _ := simulate(t, inOrder, 0, false).published(bus.Slices)
	same := true
	for shard := range lethe.ShardID(shards) {
		slice, err := canonical.DecodeSlice(kept[wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: 1}].Payload)
		require.NoError(t, err)
		for _, n := range slice.Nodes {
			same = same && moved[n] == shard
		}
	}
	require.False(t, same, "at scope stubs everybody stays in his shard, so that the test would tell nothing")
}
