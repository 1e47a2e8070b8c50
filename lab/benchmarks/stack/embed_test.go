package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/trainer"
)

// Embeddings are further columns; what is missing counts as the mean.
func TestEmbeddingsAreJoinedToRows(t *testing.T) {
	s := &lethe.Slice{
		FeatureCount: 2, Nodes: []lethe.Pseudonym{{1}, {2}, {3}}, Labels: make([]lethe.Label, 3),
		Features: []float32{1, 5, 3, 5, 2, 5}, Edges: []lethe.Edge{{A: 0, B: 1}},
		Parts: []lethe.Digest{{1}},
	}
	e := &embedder{options: extras{width: 3, epochs: 1, seed: 1}}
	e.learn(s)
	scaled := e.scaled(trainer.Input{Rows: 2, Cols: 2, Features: []float32{2, 6, lethe.Missing(), 5}})
	require.InDeltaSlice(t, []float64{0, 0, 0, 0}, scaled.RawMatrix().Data, 1e-12)
	require.InDelta(t, 1.2247, e.scaled(trainer.InputOfSlice(s)).At(1, 0), 1e-4)

	with := e.window([]*lethe.Slice{s})[0]
	require.Equal(t, 5, with.FeatureCount)
	require.Equal(t, s.Row(1), with.Row(1)[:2])
	require.NotEqual(t, with.Row(0)[2:], with.Row(1)[2:])
	require.Nil(t, with.Parts)
	require.Equal(t, 2, s.FeatureCount)
	require.Equal(t, with.Features, e.join(trainer.InputOfSlice(s)).Features)
}
