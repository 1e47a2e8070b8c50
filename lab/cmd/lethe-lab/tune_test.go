package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/baselines"
	"lethe/partition"
	"lethe/partition/graph"
)

// Two triangles that one edge joins: every pair of weights cuts that edge, so the configuration's own stay.
func TestTune_Tie_KeepsOwnWeights(t *testing.T) {
	edges := []lethe.Edge{{A: 0, B: 1}, {A: 0, B: 2}, {A: 1, B: 2}, {A: 2, B: 3}, {A: 3, B: 4}, {A: 3, B: 5}, {A: 4, B: 5}}
	g, err := graph.New(6, edges, make([]uint8, 6), 1)
	require.NoError(t, err)
	for _, method := range []string{partition.MethodGPFBFast, baselines.MethodGPFBSR} {
		c := baselines.DefaultsOf(method)
		c.Shards = 2
		got, err := tune(t.Context(), g, c)
		require.NoError(t, err)
		require.Equal(t, c.Alpha, got.Alpha)
		require.Equal(t, c.Beta, got.Beta)
	}
}
