package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/lab/protocol"
	"lethe/partition"
	"lethe/scoring/decision"
	"lethe/trainer/group"
)

// The model of the group that holds a slice is none here: to ask it would end the test.
func TestNoNodeIsPredictedByTheGroupThatHoldsIt(t *testing.T) {
	c := small(generated(t))
	r, err := newRun(t.Context(), c, decision.Auto())
	require.NoError(t, err)
	require.NoError(t, r.through(t.Context()))
	for _, one := range r.components {
		s := r.steps[len(r.steps)-2]
		whole, err := one.outOfGroup(t.Context(), s)
		require.NoError(t, err)
		for shard, slice := range s.view(one.component).slices {
			model := &one.models[group.Of(lethe.ShardID(shard), one.groups, c.Shards)]
			kept := *model
			*model = nil
			said, err := one.askOthers(t.Context(), slice, c.Shards)
			*model = kept
			require.NoError(t, err)
			at := 0
			for node, owner := range s.owners {
				if int(owner) == shard {
					require.Equal(t, whole[node], said[at])
					at++
				}
			}
			require.Len(t, said, at)
		}
	}
}

// holders returns the first node whose owner is not what the slices say: it must be
// in the slice of the group that its owner is in, and in no other.
func holders(snap *lethe.Snapshot, s *step, v *view, groups, shards int) error {
	unions, err := v.groups(groups, 0)
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
	steps, err := cutter{lethe.Secret{}, shards, 1, partition.MethodGPFBFast, true}.stream(t.Context(), stream)
	require.NoError(t, err)
	for i, s := range steps {
		snap := protocol.SnapshotOf(lethe.Secret{}, &stream.Steps[i], stream.FeatureCount)
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
