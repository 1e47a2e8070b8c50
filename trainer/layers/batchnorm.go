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

// BatchNorm is one batch normalisation (Ioffe and Szegedy, ICML 2015) with
// PyTorch's conventions: training normalises by the biased variance of the rows
// at hand and moves the running statistics a tenth of the way to theirs, taking
// the unbiased variance; evaluation normalises by the running ones. A single
// row has unbiased variance 0 here, where PyTorch refuses it.
type BatchNorm struct {
	Weight, Bias *gorgonia.Node
	// RunningMean and RunningVar alias the model's buffers.
	RunningMean, RunningVar []float32

	// normalised and inverse are the normalised rows and one over the standard
	// deviations, left by the forward pass for the backward one. mean, variance
	// and their like are summed in double precision.
	normalised     []float32
	inverse, shift []float32
	sum, sumSquare []float64
}

// Norm adds normalised(x)·weight + bias, column by column.
func (b *Builder) Norm(x *gorgonia.Node, n *BatchNorm) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	cols := width(x)
	n.normalised = make([]float32, b.capacity*cols)
	n.inverse, n.shift = make([]float32, cols), make([]float32, cols)
	n.sum, n.sumSquare = make([]float64, cols), make([]float64, cols)
	out := b.rows(cols)
	return b.apply(operation{
		kind: "norm", inputs: gorgonia.Nodes{x, n.Weight, n.Bias}, out: out,
		run: func(in []gorgonia.Value) error {
			from := b.live(in[0])
			if b.Training {
				n.measure(from)
			} else {
				n.recall()
			}
			n.forward(b.live(out), from, floats(in[1]), floats(in[2]))
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			sums := b.normSums(grad, y, n)
			grads := gorgonia.Nodes{nil, b.normGradRow(sums, 1), b.normGradRow(sums, 0)}
			if b.needs[x] {
				grads[0] = b.normGradInput(grad, sums, n)
			}
			return grads
		},
	})
}

// measure takes mean and deviation from the rows and updates the running ones.
func (n *BatchNorm) measure(x kernels.Matrix) {
	rows := float64(x.Rows)
	clear(n.sum)
	clear(n.sumSquare)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			n.sum[j] += float64(v)
		}
	}
	for j := range n.sum {
		n.sum[j] /= rows
	}
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			d := float64(v) - n.sum[j]
			n.sumSquare[j] += float64(d * d)
		}
	}
	for j, s := range n.sumSquare {
		n.shift[j] = float32(n.sum[j])
		n.inverse[j] = float32(1 / math.Sqrt(s/rows+normEpsilon))
		n.RunningMean[j] = blend(n.RunningMean[j], n.sum[j])
		n.RunningVar[j] = blend(n.RunningVar[j], s/max(1, rows-1))
	}
}

func blend(running float32, batch float64) float32 {
	return float32(float64((1-normMomentum)*float64(running)) + float64(normMomentum*batch))
}

// recall takes mean and deviation from the running statistics.
func (n *BatchNorm) recall() {
	copy(n.shift, n.RunningMean)
	for j, v := range n.RunningVar {
		n.inverse[j] = float32(1 / math.Sqrt(float64(v)+normEpsilon))
	}
}

func (n *BatchNorm) forward(dst, x kernels.Matrix, weight, bias []float32) {
	shift, inverse := n.shift[:x.Cols], n.inverse[:x.Cols]
	weight, bias = weight[:x.Cols], bias[:x.Cols]
	for i := range x.Rows {
		row, normalised := dst.Row(i), n.normalised[i*x.Cols:(i+1)*x.Cols]
		for j, v := range x.Row(i) {
			z := (v - shift[j]) * inverse[j]
			normalised[j] = z
			row[j] = float32(z*weight[j]) + bias[j]
		}
	}
}

// normSums has rows Σ G (the gradient for the bias) and Σ G∘normalised (for the
// weight). It takes y to run after the forward pass.
func (b *Builder) normSums(grad, y *gorgonia.Node, n *BatchNorm) *gorgonia.Node {
	cols := width(grad)
	out := dense(make([]float32, 2*cols), 2, cols)
	return b.apply(operation{
		kind: "norm.sums", inputs: gorgonia.Nodes{y, grad}, out: out,
		run: func(in []gorgonia.Value) error {
			g := b.live(in[1])
			clear(n.sum)
			clear(n.sumSquare)
			for i := range g.Rows {
				normalised := n.normalised[i*cols : (i+1)*cols]
				for j, v := range g.Row(i) {
					n.sum[j] += float64(v)
					n.sumSquare[j] += float64(float64(v) * float64(normalised[j]))
				}
			}
			sums := floats(out)
			for j := range cols {
				sums[j], sums[cols+j] = float32(n.sum[j]), float32(n.sumSquare[j])
			}
			return nil
		},
	})
}

// normGradRow is one row of normSums as a vector.
func (b *Builder) normGradRow(sums *gorgonia.Node, row int) *gorgonia.Node {
	cols := width(sums)
	out := dense(make([]float32, cols), cols)
	return b.apply(operation{
		kind: "norm.row", inputs: gorgonia.Nodes{sums}, out: out,
		run: func(in []gorgonia.Value) error {
			copy(floats(out), floats(in[0])[row*cols:])
			return nil
		},
	})
}

// normGradInput is weight·inverse·(G − (ΣG + normalised·ΣG∘normalised)/rows)
// in training, and weight·inverse·G in evaluation.
func (b *Builder) normGradInput(grad, sums *gorgonia.Node, n *BatchNorm) *gorgonia.Node {
	cols := width(grad)
	out := b.rows(cols)
	return b.apply(operation{
		kind: "norm.x", inputs: gorgonia.Nodes{grad, sums, n.Weight}, out: out,
		run: func(in []gorgonia.Value) error {
			g, dst := b.live(in[0]), b.live(out)
			total, weight := floats(in[1]), floats(in[2])[:cols]
			inverse, normalised := n.inverse[:cols], n.normalised
			share := float32(0)
			if b.Training {
				share = 1 / float32(g.Rows)
			}
			plain, along := total[:cols], total[cols:][:cols]
			for i := range g.Rows {
				row, z := dst.Row(i)[:cols], normalised[i*cols:][:cols]
				for j, v := range g.Row(i) {
					centred := v - float32(share*(plain[j]+float32(z[j]*along[j])))
					row[j] = weight[j] * inverse[j] * centred
				}
			}
			return nil
		},
	})
}
