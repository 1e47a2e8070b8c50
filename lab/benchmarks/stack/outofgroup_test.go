package main

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/dataset"
	"lethe/lab/protocol"
	"lethe/partition"
	"lethe/scoring/stack"
	"lethe/trainer/group"
)

// The answers of the group that holds a node are no numbers here: one that is let in
// spoils the mean.
func TestNoNodeIsPredictedByTheGroupThatHoldsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.IntRange(2, 20).Draw(t, "shards")
		groups := rapid.IntRange(2, shards).Draw(t, "groups")
		owners := make([]lethe.ShardID, rapid.IntRange(1, 9).Draw(t, "nodes"))
		said := make([][]float64, groups)
		want := make([][]float64, len(owners))
		for node := range owners {
			owners[node] = lethe.ShardID(rapid.IntRange(0, shards-1).Draw(t, "owner"))
			for g := range said {
				p := rapid.Float64Range(0, 1).Draw(t, "probability")
				if slices.Contains(group.Shards(g, groups, shards), owners[node]) {
					p = math.NaN()
				} else {
					want[node] = append(want[node], p)
				}
				said[g] = append(said[g], p)
			}
		}
		for node, z := range outOfGroup(said, owners, shards) {
			require.Len(t, want[node], groups-1)
			require.Equal(t, stack.MeanLogit(want[node]), z)
		}
	})
}

// holders returns the first node whose owner is not what the slices say: it must be
// in the slice of the group that its owner is in, and in no other.
func holders(snap *lethe.Snapshot, s *step, v *view, groups, shards int) error {
	unions, err := v.groups(groups)
	if err != nil {
		return err
	}
	seen := 0
	for g, union := range unions {
		for _, node := range union.Nodes {
			at := slices.IndexFunc(snap.Nodes, func(n lethe.SnapshotNode) bool { return n.Pseudonym == node })
			if owner := s.owners[at]; group.Of(owner, groups, shards) != g {
				return fmt.Errorf("node %d of shard %d is in group %d of %d", at, owner, g, groups)
			}
			seen++
		}
	}
	if seen != len(s.owners) {
		return fmt.Errorf("%d nodes in groups, want %d", seen, len(s.owners))
	}
	return nil
}

func TestOwnersAreWhoseSlicesHoldTheNodes(t *testing.T) {
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Seed = 3, 60, 5
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	const shards = 6
	steps, err := cutter{shards, 1, partition.MethodGPFBFast, true}.stream(t.Context(), stream)
	require.NoError(t, err)
	for i, s := range steps {
		snap := protocol.SnapshotOf(&stream.Steps[i], stream.FeatureCount)
		require.Len(t, s.labels, len(s.owners))
		for _, groups := range []int{2, 3, 4, 6} {
			for _, v := range []*view{&s.joined, &s.raw} {
				require.NoError(t, holders(snap, s, v, groups, shards))
			}
			// A wrong owner is found.
			right := s.owners[7]
			s.owners[7] = (right + shards/2) % shards
			require.ErrorContains(t, holders(snap, s, &s.raw, groups, shards), "node 7 of shard ")
			s.owners[7] = right
		}
	}
}
