package graphs

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
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

// rewrites has the eraser rewrite graphs.
func (s *simulation) rewrites(targets []lethe.Target, replaced ...coordinator.Replaced) {
	s.Helper()
	require.NoError(s, s.deliver(func() (role.Output, error) {
		return s.logic.turns.Step(func() error { return s.logic.eraser.Rewrite(s.Context(), nil, targets, replaced) })
	}))
}

// A request has replaced a slice and ended, for a backup was put back, and another one has rewritten the timestep
// since, with another slice. The request in the place of the first waits for a slice that comes.
func TestWhatARequestThatHasEndedReplacedIsPublishedAnew(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.fill(1)
	s.settle(1)
	s.fill(2)
	s.start()
	for range 20 {
		require.NoError(t, s.turn())
	}
	require.Equal(t, 1, s.logic.Status().Count(lethe.Settled))
	planned := func(id lethe.TransactionID) coordinator.Replaced {
		plans, err := s.logic.eraser.Plan(t.Context(), [][]lethe.Target{lethe.Transactions(id)}, lethe.ScopeShard)
		require.NoError(t, err)
		require.Len(t, plans[0].Steps, 1)
		return plans[0].Steps[0].Replaced
	}
	ended, others := planned(transactionID(1, 0)), 1
	for slices.Equal(planned(transactionID(1, others)).Shards, ended.Shards) {
		others++
	}
	s.rewrites(lethe.Transactions(transactionID(1, 0)), ended)
	s.rewrites(lethe.Transactions(transactionID(1, others)), planned(transactionID(1, others)))
	key := wire.Key{Kind: wire.KindSlice, Shard: ended.Shards[0], Timestep: 1}
	before, _ := s.published(bus.Slices)
	require.Equal(t, lethe.Revision(2), before[key].Revision)

	ended.Renewed = true
	s.rewrites(nil, ended)
	steps := s.logic.eraser.Steps([]coordinator.Replaced{ended})
	require.Len(t, steps, 1)
	after, count := s.published(bus.Slices, bus.Snapshots)
	require.Equal(t, steps[0].Revision, after[key].Revision, "this is what is waited for")
	manifest, err := wire.DecodeManifest(after[wire.Key{Kind: wire.KindManifest, Timestep: 1}].Payload)
	require.NoError(t, err)
	require.Equal(t, canonical.DigestOf(after[key].Payload), manifest.Slices[key.Shard])

	ended.Revision = steps[0].Revision
	s.rewrites(nil, ended)
	_, again := s.published(bus.Slices, bus.Snapshots)
	require.Equal(t, count, again, "it was noted that they are published")
	require.NoError(t, s.logic.Close())
}
