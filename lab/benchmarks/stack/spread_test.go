package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// A path from an illicit node to a licit one, and a node by itself.
func TestLabelsSpreadAlongEdges(t *testing.T) {
	s := &lethe.Slice{
		Nodes:  []lethe.Pseudonym{{1}, {2}, {3}, {4}, {5}, {6}},
		Labels: []lethe.Label{lethe.Illicit, 0, 0, 0, lethe.Licit, 0},
		Edges:  []lethe.Edge{{A: 0, B: 1}, {A: 1, B: 2}, {A: 2, B: 3}, {A: 3, B: 4}},
	}
	illicit, reached := spreadLabels(s)
	require.InDelta(t, .5, illicit[2], 1e-9)
	require.InDelta(t, illicit[1], 1-illicit[3], 1e-9)
	require.Greater(t, illicit[1], .7)
	require.Greater(t, reached[1], reached[2])
	require.Zero(t, reached[5])

	require.Equal(t, []lethe.Label{lethe.Illicit, lethe.Illicit, 0, lethe.Licit, lethe.Licit, 0},
		(&extras{sure: .7, share: 1}).spreadIn(s).Labels)
	require.Same(t, s, (&extras{sure: 1, share: 1}).spreadIn(s))
}

func TestLogitsAreSmoothedAlongEdges(t *testing.T) {
	neighbours := [][]uint32{{1}, {0}, nil}
	require.InDeltaSlice(t, []float64{.5, .5, .9}, smooth([]float64{.8, .2, .9}, neighbours, .5), 1e-6)
	require.InDeltaSlice(t, []float64{.8, .2, .9}, smooth([]float64{.8, .2, .9}, neighbours, 0), 1e-6)
}
