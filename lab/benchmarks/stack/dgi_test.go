package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"lethe"
)

// alike draws pairs of joined nodes with nearly the same rows.
func alike(n, features int) (x *mat.Dense, neighbours [][]uint32) {
	draw := lethe.NewDraw(3, "test")
	x = mat.NewDense(n, features, nil)
	neighbours = make([][]uint32, n)
	for i := 0; i < n; i += 2 {
		for k := range features {
			v := draw.Normal()
			x.Set(i, k, v)
			x.Set(i+1, k, v+.1*draw.Normal())
		}
		neighbours[i], neighbours[i+1] = []uint32{uint32(i + 1)}, []uint32{uint32(i)}
	}
	return x, neighbours
}

// exchangedRows is x with its rows in another order.
func exchangedRows(x *mat.Dense) *mat.Dense {
	n, f := x.Dims()
	out := mat.NewDense(n, f, nil)
	for i := range n {
		out.SetRow(i, x.RawRowView((i*7+3)%n))
	}
	return out
}

func TestGradientsAreThoseOfTheLoss(t *testing.T) {
	x, neighbours := alike(12, 3)
	d := newDGI(3, 4, 1)
	truth, exchanged := surroundings(x, neighbours), surroundings(exchangedRows(x), neighbours)
	_, byEncode, byWeigh := d.gradients(truth, exchanged)
	for _, c := range []struct{ weights, gradient *mat.Dense }{{d.encode, byEncode}, {d.weigh, byWeigh}} {
		for at := range c.weights.RawMatrix().Data {
			w := &c.weights.RawMatrix().Data[at]
			const step = 1e-5
			*w += step
			above, _, _ := d.gradients(truth, exchanged)
			*w -= 2 * step
			below, _, _ := d.gradients(truth, exchanged)
			*w += step
			require.InDelta(t, (above-below)/(2*step), c.gradient.RawMatrix().Data[at], 1e-7)
		}
	}
}

// Exchanging the rows tears pairs apart, which can be told.
func TestEncodersLearnWhatNeighboursShare(t *testing.T) {
	x, neighbours := alike(400, 4)
	d := newDGI(4, 16, 1)
	truth, exchanged := surroundings(x, neighbours), surroundings(exchangedRows(x), neighbours)
	before, _, _ := d.gradients(truth, exchanged)
	for timestep := range lethe.Timestep(20) {
		d.learn(x, neighbours, timestep, 10)
	}
	after, _, _ := d.gradients(truth, exchanged)
	require.Less(t, after, min(before, .68)-.02)
}

// A one at the end of a row carries b; without neighbours there is no mean.
func TestSurroundings(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{2, 4, 9})
	require.Equal(t, []float64{2, 4, 1, 4, 5.5, 1, 9, 0, 1},
		surroundings(x, [][]uint32{{1}, {0, 2}, nil}).RawMatrix().Data)
}
