package layers

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/kernels"
)

func TestExponential(t *testing.T) {
	for x := 0.0; x > -50; x -= 0.37 {
		require.InEpsilon(t, math.Exp(x), exponential(x), 1e-14)
	}
	require.Equal(t, 1.0, exponential(0))
	require.Zero(t, exponential(math.Inf(-1)))
	require.True(t, math.IsNaN(exponential(math.NaN())))
}

func TestGraphListsNeighboursAscending(t *testing.T) {
	const sqrt6 = 2.4494897
	g := NewGraph(4, []lethe.Edge{{A: 0, B: 2}, {A: 1, B: 2}})
	require.Equal(t, []uint32{0, 1}, g.of(2))
	require.Equal(t, []uint32{0, 1, 2}, g.closed(2))
	require.Empty(t, g.of(3))
	require.Equal(t, []uint32{3}, g.closed(3))
	last := g.loopStarts[4] - 1
	require.Equal(t, float32(1), g.normalised[last])
	require.InDeltaSlice(t, []float32{1 / sqrt6, 1 / sqrt6, 1. / 3}, g.normalised[last-3:last], 1e-7)
	require.Equal(t, []float32{0.5, 0.5, 1, 1}, g.share)
}

// Sparse rows give what the dense matrix gives, in both products.
func TestSparseEqualsDense(t *testing.T) {
	k := kernels.Portable()
	rapid.Check(t, func(rt *rapid.T) {
		rows, cols := rapid.IntRange(1, 9).Draw(rt, "rows"), rapid.IntRange(8, 40).Draw(rt, "cols")
		out := rapid.IntRange(1, 9).Draw(rt, "out")
		d := lethe.NewDraw(rapid.Uint64().Draw(rt, "seed"), "sparse")
		x := kernels.Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
		for range rows * cols / 8 {
			x.Data[d.IntN(len(x.Data))] = float32(d.Normal())
		}
		s := NewFeatures(x).Sparse
		require.NotNil(rt, s)
		random := func(rows, cols int) kernels.Matrix {
			m := kernels.Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
			for i := range m.Data {
				m.Data[i] = float32(d.Normal())
			}
			return m
		}
		var scratch kernels.Scratch
		w, g := random(cols, out), random(rows, out)
		want, got := random(rows, out), random(rows, out)
		k.Products.MulNN(want, x, w, &scratch)
		s.mul(k.Rows, got, w)
		require.InDeltaSlice(rt, want.Data, got.Data, 1e-4)
		want, got = random(cols, out), random(cols, out)
		k.Products.MulTN(want, x, g, &scratch)
		s.mulTransposed(k.Rows, got, g)
		require.InDeltaSlice(rt, want.Data, got.Data, 1e-4)
		sum := random(rows, cols)
		twice := append([]float32(nil), sum.Data...)
		k.Elements.Add(twice, x.Data)
		s.addTo(sum)
		require.Equal(rt, twice, sum.Data)
	})
	require.Nil(t, NewFeatures(kernels.Matrix{Rows: 1, Cols: 2, Data: []float32{1, 0}}).Sparse)
}

func zeroMatrix(rows, cols int) kernels.Matrix {
	return kernels.Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
}

// Sparse rows with other values in the same places, as dropout makes them step by
// step, give the products of the new values by rows and by columns.
func TestMaskedSparseEqualsDense(t *testing.T) {
	k := kernels.Portable()
	x := kernels.Matrix{Rows: 3, Cols: 12, Data: make([]float32, 36)}
	for i, at := range []int{1, 5, 11, 13, 17, 25, 30, 35} {
		x.Data[at] = float32(i + 1)
	}
	s := NewFeatures(x).Sparse
	g := kernels.Matrix{Rows: 3, Cols: 2, Data: []float32{1, 2, 3, 4, 5, 6}}
	w := kernels.Matrix{Rows: 12, Cols: 1, Data: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}
	var masked Sparse
	for _, factor := range []float32{2, 0, -3} {
		values, dense := make([]float32, len(s.Values)), kernels.Matrix{Rows: 3, Cols: 12, Data: make([]float32, 36)}
		for e := range values {
			values[e] = s.Values[e] * (factor + float32(e))
		}
		masked.mask(s, values)
		masked.addTo(dense)
		byColumn, want := zeroMatrix(12, 2), zeroMatrix(12, 2)
		masked.mulTransposed(k.Rows, byColumn, g)
		k.Products.MulTN(want, dense, g, nil)
		require.Equal(t, want.Data, byColumn.Data)
		byRow, want := zeroMatrix(3, 1), zeroMatrix(3, 1)
		masked.mul(k.Rows, byRow, w)
		k.Products.MulNN(want, dense, w, nil)
		require.Equal(t, want.Data, byRow.Data)
	}
}

// A row that goes away changes no other row's draws, and nothing but the key of
// the step, the layer, the row and the column matters.
func TestDrawsAreKeyedByRow(t *testing.T) {
	all := &Workspace{Key: 7, Batch: &Batch{Rows: 3, Keys: []uint64{11, 22, 33}}, kernels: kernels.Portable()}
	less := &Workspace{Key: 7, Batch: &Batch{Rows: 2, Keys: []uint64{11, 33}}, kernels: kernels.Portable()}
	mask := func(w *Workspace, site uint64, row int) []float32 {
		out := make([]float32, 400)
		w.maskRow(out, site, row, 0.25)
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

	edge := func(w *Workspace, row, other int) []float32 {
		out := make([]float32, 64)
		w.kernels.Draws.Mask(out, w.pairKey(w.rowKey(1, row), other), dropLimit(0.5), 2)
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
	w := &Workspace{Key: 3, Batch: &Batch{Rows: 2, Keys: []uint64{5, 6}}, kernels: kernels.Portable()}
	s := NewFeatures(x).Sparse
	got := make([]float32, 3)
	w.maskSparse(got, s, 4, 0.5)
	want := make([]float32, 16)
	w.maskRow(want, 4, 0, 0.5)
	require.Equal(t, []float32{want[3], want[9]}, got[:2])
	w.maskRow(want, 4, 1, 0.5)
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
	all := float64(len(b.Work.Batch.Graph.loopTargets))
	require.InDelta(t, 0.8*all, edges, 0.1*all)
	require.InDelta(t, 0.4*all, others, 0.1*all)
	before := append([]Pair(nil), g.pairs...)
	g.sample()
	require.Equal(t, before, g.pairs)
	b.Work.Key++
	g.sample()
	require.NotEqual(t, before, g.pairs)
}
