package graphlayers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/networks/loops"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

func TestGraphWithLoops(t *testing.T) {
	const sqrt6 = 2.4494897
	g := newGraph(layers.NewGraph(4, []lethe.Edge{{A: 0, B: 2}, {A: 1, B: 2}}))
	require.Equal(t, []uint32{0, 1, 2}, g.of(2))
	require.Equal(t, []uint32{3}, g.of(3))
	last := g.starts[4] - 1
	require.Equal(t, float32(1), g.normalised[last])
	require.InDeltaSlice(t, []float32{1 / sqrt6, 1 / sqrt6, 1. / 3}, g.normalised[last-3:last], 1e-7)
	require.Equal(t, []float32{0.5, 0.5, 1, 1}, g.share)
}

// A row that goes away changes no other row's draws, and nothing but the key of
// the step, the layer, the row and the column matters.
func TestDrawsAreKeyedByRow(t *testing.T) {
	k := kernels.Portable()
	all := &layers.Workspace{Key: 7, Batch: &layers.Batch{Rows: 3, Keys: []uint64{11, 22, 33}}, Kernels: k}
	less := &layers.Workspace{Key: 7, Batch: &layers.Batch{Rows: 2, Keys: []uint64{11, 33}}, Kernels: k}
	mask := func(w *layers.Workspace, site uint64, row int) []float32 {
		out := make([]float32, 400)
		maskRow(w, out, site, row, 0.25)
		return out
	}
	require.Equal(t, mask(all, 1, 2), mask(less, 1, 1))
	require.NotEqual(t, mask(all, 1, 2), mask(all, 1, 1))
	require.NotEqual(t, mask(all, 1, 2), mask(all, 2, 2))
	kept := 0
	for _, v := range mask(all, 1, 2) {
		if v != 0 {
			require.InDelta(t, 4.0/3, v, 1e-6)
			kept++
		}
	}
	require.InDelta(t, 300, kept, 40)

	edge := func(w *layers.Workspace, row, other int) []float32 {
		out := make([]float32, 64)
		loops.Of(w.Kernels).Draws.Mask(out, pairKey(w, rowKey(w, 1, row), other), dropLimit(0.5), 2)
		return out
	}
	require.Equal(t, edge(all, 0, 2), edge(less, 0, 1))
	require.NotEqual(t, edge(all, 0, 2), edge(all, 2, 0))
	other := *all
	other.Key++
	require.NotEqual(t, edge(all, 0, 2), edge(&other, 0, 2))
}

// The mask of sparse features is that of dense ones where they are not 0.
func TestDropoutOfSparseFeatures(t *testing.T) {
	x := kernels.Matrix{Rows: 2, Cols: 16, Data: make([]float32, 32)}
	x.Data[3], x.Data[9], x.Data[20] = 1, 1, 1
	w := &layers.Workspace{Key: 3, Batch: &layers.Batch{Rows: 2, Keys: []uint64{5, 6}}, Kernels: kernels.Portable()}
	s := layers.NewFeatures(x).Sparse
	got := make([]float32, 3)
	maskSparse(w, got, s, 4, 0.5)
	want := make([]float32, 16)
	maskRow(w, want, 4, 0, 0.5)
	require.Equal(t, []float32{want[3], want[9]}, got[:2])
	maskRow(w, want, 4, 1, 0.5)
	require.Equal(t, want[4], got[2])
}

// Samples of the attention loss: a pair is drawn by its own two nodes, and in
// the expected numbers.
func TestAttentionSamples(t *testing.T) {
	const rows = 120
	b := newBench(kernels.Portable(), rows)
	loss := SelfSupervision{EdgeRatio: 0.8, NegativeRatio: 0.5}
	g := &superGAT{ends: ends{attention: &attention{work: b.Work}}, loss: loss}
	g.sample()
	edges, others := 0, 0
	for _, p := range g.pairs {
		if p.Edge {
			edges++
		} else {
			others++
		}
	}
	all := float64(len(derived(b.Work).graph.targets))
	require.InDelta(t, 0.8*all, edges, 0.1*all)
	require.InDelta(t, 0.4*all, others, 0.1*all)
	before := append([]Pair(nil), g.pairs...)
	g.sample()
	require.Equal(t, before, g.pairs)
	b.Work.Key++
	g.sample()
	require.NotEqual(t, before, g.pairs)
}
