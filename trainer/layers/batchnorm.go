package layers

import (
	"math"

	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

const (
	normEpsilon  = 1e-5
	normMomentum = 0.1
)

// BatchNorm is one batch normalisation (Ioffe and Szegedy, ICML 2015) with PyTorch's conventions:
// training normalises by the biased variance of the given rows and moves the running statistics a
// tenth of the way to theirs, using the unbiased variance; evaluation normalises by the running
// statistics. A single row has unbiased variance 0 here, where PyTorch fails.
type BatchNorm struct {
	Weight, Bias *gorgonia.Node
	// RunningMean and RunningVar alias the model's buffers.
	RunningMean, RunningVar []float32

	// normalised and inverse are the normalised rows and one over the standard deviations, stored by
	// the forward pass for the backward pass. Mean, variance and similar sums are in double
	// precision.
	normalised     []float32
	call           kernels.Normalisation
	sum, sumSquare []float64
}

// Norm adds normalised(x)·weight + bias, column by column.
func Norm(b *Builder, x *gorgonia.Node, n *BatchNorm) *gorgonia.Node {
	cols := Width(x)
	n.normalised = make([]float32, b.Capacity*cols)
	n.call.Inverse, n.call.Shift = make([]float32, cols), make([]float32, cols)
	// Without a gradient the sums are unused.
	n.call.Sum, n.call.Along = n.call.Shift, n.call.Shift
	n.sum, n.sumSquare = make([]float64, cols), make([]float64, cols)
	out := b.NewRows(cols)
	return b.Apply(Operation{
		Kind: "norm", Inputs: gorgonia.Nodes{x, n.Weight, n.Bias}, Out: out, Reads: SameRow,
		Run: func(in []gorgonia.Value) error {
			from := b.Live(in[0])
			if b.Training {
				n.measure(b.Work.Kernels.Columns, from)
			} else {
				n.recall()
			}
			n.call.Weight, n.call.Bias = Floats(in[1]), Floats(in[2])
			b.Work.Kernels.Columns.Normalise(b.Live(out), n.rows(from), from, &n.call)
			return nil
		},
		Pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			sums := normSums(b, grad, y, n)
			grads := gorgonia.Nodes{nil, normGradRow(b, sums, 1), normGradRow(b, sums, 0)}
			if b.Needs(x) {
				grads[0] = normGradInput(b, grad, sums, n)
			}
			return grads
		},
	})
}

// measure computes mean and deviation from the rows and updates the running statistics.
func (n *BatchNorm) measure(k kernels.Columns, x kernels.Matrix) {
	rows := float64(x.Rows)
	k.ColumnSums(n.sum, x)
	for j := range n.sum {
		n.sum[j] /= rows
	}
	k.ColumnSquares(n.sumSquare, n.sum, x)
	for j, s := range n.sumSquare {
		n.call.Shift[j] = float32(n.sum[j])
		n.call.Inverse[j] = float32(1 / math.Sqrt(s/rows+normEpsilon))
		n.RunningMean[j] = blend(n.RunningMean[j], n.sum[j])
		n.RunningVar[j] = blend(n.RunningVar[j], s/max(1, rows-1))
	}
}

func blend(running float32, batch float64) float32 {
	return float32(float64((1-normMomentum)*float64(running)) + float64(normMomentum*batch))
}

// recall sets mean and deviation from the running statistics.
func (n *BatchNorm) recall() {
	copy(n.call.Shift, n.RunningMean)
	for j, v := range n.RunningVar {
		n.call.Inverse[j] = float32(1 / math.Sqrt(float64(v)+normEpsilon))
	}
}

// rows returns the normalised rows as a matrix of the shape of x.
func (n *BatchNorm) rows(x kernels.Matrix) kernels.Matrix {
	return kernels.Matrix{Rows: x.Rows, Cols: x.Cols, Data: n.normalised[:len(x.Data)]}
}

// normSums has the rows Σ G (the gradient for the bias) and Σ G∘normalised (for the weight). The
// input y makes it run after the forward pass.
func normSums(b *Builder, grad, y *gorgonia.Node, n *BatchNorm) *gorgonia.Node {
	cols := Width(grad)
	out := Dense(make([]float32, 2*cols), 2, cols)
	return b.Apply(Operation{
		Kind: "norm.sums", Inputs: gorgonia.Nodes{y, grad}, Out: out,
		Run: func(in []gorgonia.Value) error {
			g := b.Live(in[1])
			b.Work.Kernels.Columns.ColumnSums(n.sum, g)
			b.Work.Kernels.Columns.ColumnDots(n.sumSquare, g, n.rows(g))
			sums := Floats(out)
			for j := range cols {
				sums[j], sums[cols+j] = float32(n.sum[j]), float32(n.sumSquare[j])
			}
			return nil
		},
	})
}

// normGradRow is one row of normSums as a vector.
func normGradRow(b *Builder, sums *gorgonia.Node, row int) *gorgonia.Node {
	cols := Width(sums)
	out := Dense(make([]float32, cols), cols)
	return b.Apply(Operation{
		Kind: "norm.row", Inputs: gorgonia.Nodes{sums}, Out: out,
		Run: func(in []gorgonia.Value) error {
			copy(Floats(out), Floats(in[0])[row*cols:])
			return nil
		},
	})
}

// normGradInput is weight·inverse·(G − (ΣG + normalised·ΣG∘normalised)/rows)
// in training, and weight·inverse·G in evaluation.
func normGradInput(b *Builder, grad, sums *gorgonia.Node, n *BatchNorm) *gorgonia.Node {
	cols := Width(grad)
	out := b.NewRows(cols)
	return b.Apply(Operation{
		Kind: "norm.x", Inputs: gorgonia.Nodes{grad, sums, n.Weight}, Out: out,
		Run: func(in []gorgonia.Value) error {
			g, total := b.Live(in[0]), Floats(in[1])
			n.call.Sum, n.call.Along, n.call.Weight = total[:cols], total[cols:], Floats(in[2])
			n.call.Share = 0
			if b.Training {
				n.call.Share = 1 / float32(g.Rows)
			}
			b.Work.Kernels.Columns.NormaliseGrad(b.Live(out), n.rows(g), g, &n.call)
			return nil
		},
	})
}
