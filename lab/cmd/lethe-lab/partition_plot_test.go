package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlotShards(t *testing.T) {
	steps := []partitionStep{
		{Nodes: 9, Sizes: []int{2, 3, 4}, ClassCounts: [][]int{{1, 1, 0}, {2, 1, 0}, {3, 1, 0}}},
		{Nodes: 3, Sizes: []int{1, 1, 1}, ClassCounts: [][]int{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}},
	}
	for name, drawn := range map[string][]partitionStep{"full": steps, "no timestep": nil,
		"no node": {{Sizes: []int{0}, ClassCounts: [][]int{{0, 0}}}}} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, plotShards(filepath.Join(folder, "a.svg"), drawn, strconv.Itoa))
			svg, err := os.ReadFile(filepath.Join(folder, "a.svg"))
			require.NoError(t, err)
			for _, label := range []string{"Shard sizes", "Spread of classes over shards", "nodes / even share"} {
				require.Contains(t, string(svg), label)
			}
			require.NotContains(t, string(svg), "NaN")

			require.NoError(t, plotShards(filepath.Join(folder, "a.PNG"), drawn, strconv.Itoa))
			f, err := os.Open(filepath.Join(folder, "a.PNG"))
			require.NoError(t, err)
			defer func() { _ = f.Close() }()
			picture, err := png.Decode(f)
			require.NoError(t, err)
			require.Greater(t, picture.Bounds().Dx(), 1000)
		})
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Error(t, plotShards(filepath.Join(file, "a.svg"), steps, strconv.Itoa), "a file is no folder")
}

func TestSizeHistogram(t *testing.T) {
	h := sizeHistogram([]float64{0.9, 1, 1.001, 1.12})
	var weights []string
	for _, b := range h.Bins {
		weights = append(weights, strconv.Itoa(int(b.Weight)))
	}
	// Bars of width .05 centred on .9, .95, 1, 1.05 and 1.1.
	require.Equal(t, "1 0 2 0 1", strings.Join(weights, " "))
	require.InDelta(t, 0.875, h.Bins[0].Min, 1e-12)
	require.InDelta(t, 1.125, h.Bins[4].Max, 1e-12)
}
