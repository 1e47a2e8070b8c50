package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/configs"
	"lethe/deletions"
	"lethe/partition/repair"
	"lethe/pipeline/score"
	"lethe/pipeline/train"
	"lethe/scoring/ensemble"
	"lethe/snapshot"
)

// whole is the inventory of a directory with one timestep of four transactions in two
// shards, of which nothing is wrong but that nothing was trained.
func whole(t *testing.T) *inventory {
	t.Helper()
	c := configs.PerShard()
	c.Partition.Shards = 2
	c.Repair.MinStubs = 0
	s := &lethe.Snapshot{Timestep: 1, FeatureCount: 1, Features: []float32{1, 2, 3, 4}}
	for i := range 4 {
		id := lethe.TransactionID(rune('a' + i))
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{byte(i + 1)}, ID: id})
	}
	s.Payments = []lethe.Arc{{Source: 0, Target: 1}, {Source: 1, Target: 2}}
	content := &snapshot.Content{
		Info:     snapshot.Info{Timestep: 1, State: lethe.Settled, Previous: lethe.NoTimestep},
		Snapshot: s, Assignment: []lethe.ShardID{0, 0, 1, 1},
	}
	inv := &inventory{
		config: c, layout: ensemble.PerShard(c.TrainerConfig(), 2), steps: []*snapshot.Content{content},
	}
	list, err := repair.Slices(s, lethe.NoTimestep, content.Assignment, 2, c.RepairConfig())
	require.NoError(t, err)
	for shard, slice := range list {
		inv.columns = append(inv.columns, &train.History{
			Shard: lethe.ShardID(shard), Timesteps: []lethe.Timestep{1},
			Slices: map[lethe.Timestep]lethe.Digest{1: canonical.DigestSlice(slice)},
			Learnt: map[int]map[lethe.Timestep][]byte{},
		})
	}
	inv.served = &score.Served{Through: lethe.NoTimestep}
	return inv
}

// What a graph and its slices must hold by themselves (I2, I3), each broken once.
func TestGraphsAreCheckedByThemselves(t *testing.T) {
	check := func(inv *inventory) string {
		r := &Report{}
		inv.checkGraphs(r)
		require.NoError(t, inv.checkSlices(r))
		inv.checkServed(r)
		return strings.Join(r.Problems, "\n")
	}
	require.Empty(t, check(whole(t)))
	for want, spoil := range map[string]func(inv *inventory, step *snapshot.Content){
		"timestep 1: ": func(_ *inventory, step *snapshot.Content) {
			step.Snapshot.Nodes[0], step.Snapshot.Nodes[1] = step.Snapshot.Nodes[1], step.Snapshot.Nodes[0]
		},
		"timestep 1: 4 nodes, 3 of them in a shard": func(_ *inventory, step *snapshot.Content) {
			step.Assignment = step.Assignment[:3]
		},
		"timestep 1: shard sizes differ by 4, at most 1 allowed": func(_ *inventory, step *snapshot.Content) {
			step.Assignment = []lethe.ShardID{0, 0, 0, 0}
		},
		"timestep 1: counts of illicit differ by 2 between shards, at most 1": func(_ *inventory, step *snapshot.Content) {
			step.Snapshot.Nodes[0].Label, step.Snapshot.Nodes[1].Label = lethe.Illicit, lethe.Illicit
		},
		"timestep 1 shard 0: no slice is stored": func(inv *inventory, _ *snapshot.Content) {
			delete(inv.columns[0].Slices, 1)
		},
		"timestep 1 shard 1: the stored slice is not what the graph gives": func(_ *inventory, step *snapshot.Content) {
			step.Snapshot.Features[3]++
		},
		"the ensemble's hash is not that of its models": func(inv *inventory, _ *snapshot.Content) {
			inv.served = &score.Served{Through: 1, Version: lethe.Digest{1}, Checkpoints: [][]byte{nil, nil}}
		},
		"shard 0: the served model is not the checkpoint after timestep 1": func(inv *inventory, _ *snapshot.Content) {
			inv.served = &score.Served{Through: 1, Checkpoints: [][]byte{[]byte("another"), nil}}
		},
	} {
		inv := whole(t)
		spoil(inv, inv.steps[0])
		require.Contains(t, check(inv), want)
	}
}

// A subject is one target, and what carried it may be many nodes of a timestep.
func TestErasedSubjectsLeaveShardsUneven(t *testing.T) {
	for carried, want := range map[int]bool{1: false, 2: true} {
		inv, r := whole(t), &Report{}
		inv.steps[0].Assignment = []lethe.ShardID{0, 0, 0, 0}
		e := deletions.Entry{Progress: deletions.Progress{Timesteps: []lethe.Timestep{1}}}
		e.Progress.Counts = deletions.Counts{Targets: 1, Carried: carried}
		inv.done = append(inv.done, e)
		inv.checkEven(r, inv.steps[0])
		require.Equal(t, want, len(r.Problems) == 0, "%d carried: %v", carried, r.Problems)
	}
}

// I2 again: slices that a repair has left incomplete.
func TestEveryNodeAndCutEdgeIsAccountedFor(t *testing.T) {
	inv := whole(t)
	derived, err := repair.Slices(inv.steps[0].Snapshot, lethe.NoTimestep, inv.steps[0].Assignment, 2,
		inv.config.RepairConfig())
	require.NoError(t, err)
	derived[1].Stubs = nil
	derived[1].Nodes = derived[1].Nodes[:1]
	r := &Report{}
	inv.checkEdges(r, inv.steps[0], derived)
	require.Equal(t, []string{
		"timestep 1: slices hold 3 nodes, the graph 4", "timestep 1: 1 edges are cut, but there are 1 stubs",
	}, r.Problems)
}
