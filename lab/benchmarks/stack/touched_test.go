package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition/graph"
	"lethe/trainer"
)

func TestTouchedGroups(t *testing.T) {
	s := &step{owners: graph.Assignment{0, 1, 2, 3}}
	s.joined.graph = trainer.Input{Edges: []lethe.Edge{{A: 0, B: 1}, {A: 0, B: 2}}}
	// Node 0 touches the groups of shards 0, 1 and 2, nodes 1 and 2 their own and its.
	require.InDelta(t, (3+2+2+1)/4., touched([]*step{s}, 4, 4), 0)
	require.InDelta(t, (2+1+2+1)/4., touched([]*step{s}, 2, 4), 0)
	require.InDelta(t, 0, touched(nil, 2, 4), 0)
}
