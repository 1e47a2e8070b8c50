package layers

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/kernels"
)

func TestExponential(t *testing.T) {
	for x := 0.0; x > -50; x -= 0.37 {
		require.InEpsilon(t, math.Exp(x), Exponential(x), 1e-14)
	}
	require.Equal(t, 1.0, Exponential(0))
	require.Zero(t, Exponential(math.Inf(-1)))
	require.True(t, math.IsNaN(Exponential(math.NaN())))
}

func TestGraphListsNeighboursAscending(t *testing.T) {
	g := NewGraph(4, []lethe.Edge{{A: 0, B: 2}, {A: 1, B: 2}})
	require.Equal(t, []uint32{0, 1}, g.Of(2))
	require.Equal(t, []uint32{2}, g.Of(0))
	require.Empty(t, g.Of(3))
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
		masked.Mask(s, values)
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

// The first error of a builder stays, and layers may be added behind what could not be added.
func TestBuilderKeepsItsFirstError(t *testing.T) {
	b, other := NewBuilder(kernels.Portable(), 4, true), NewBuilder(kernels.Portable(), 4, true)
	w := b.Input("w", make([]float32, 6), true, 2, 3)
	x := Linear(b, other.Input("x", make([]float32, 8), true, 4, 2), w, nil)
	require.ErrorContains(t, b.Err(), "operator linear: ")
	first := b.Err()
	loss := CrossEntropy(b, ReLU(b, Sum(b, x, other.Input("y", make([]float32, 12), true, 4, 3))))
	require.Nil(t, b.Gradients(loss, gorgonia.Nodes{w}))
	require.Equal(t, first, b.Err())
	_, err := b.PlanFor(loss)
	require.Equal(t, first, err)
}
