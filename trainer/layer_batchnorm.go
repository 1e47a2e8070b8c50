package trainer

import (
	"math"

	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

const (
	normEpsilon  = 1e-5
	normMomentum = 0.1
)

// batchNorm is one batch normalisation (Ioffe and Szegedy, ICML 2015) with
// PyTorch's conventions: training normalises by the biased variance of the rows
// at hand and moves the running statistics a tenth of the way to theirs, taking
// the unbiased variance; evaluation normalises by the running ones. A single
// row has unbiased variance 0 here, where PyTorch refuses it.
type batchNorm struct {
	weight, bias *gorgonia.Node
	// runningMean and runningVar alias the model's buffers.
	runningMean, runningVar []float32
	// normalised and inverse are the normalised rows and one over the standard
	// deviations, left by the forward pass for the backward one. mean, variance
	// and their like are summed in double precision.
	normalised     []float32
	inverse, shift []float32
	sum, sumSquare []float64
}

// batchNorm adds normalised(x)·weight + bias, column by column.
func (b *builder) batchNorm(x *gorgonia.Node, n *batchNorm) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	width := x.Shape()[1]
	n.normalised = make([]float32, b.capacity*width)
	n.inverse, n.shift = make([]float32, width), make([]float32, width)
	n.sum, n.sumSquare = make([]float64, width), make([]float64, width)
	out := b.rows(width)
	return b.apply(operation{
		kind: "norm", inputs: gorgonia.Nodes{x, n.weight, n.bias}, out: out,
		run: func(in []gorgonia.Value) error {
			from := b.live(in[0])
			if b.training {
				n.measure(from)
			} else {
				n.recall()
			}
			n.forward(b.live(out), from, floats(in[1]), floats(in[2]))
			return nil
		},
		pull: func(y, grad *gorgonia.Node) gorgonia.Nodes {
			sums := b.normSums(y, grad, n, width)
			grads := gorgonia.Nodes{nil, b.normGradRow(sums, 1, width), b.normGradRow(sums, 0, width)}
			if b.needs[x] {
				grads[0] = b.normGradInput(grad, sums, n)
			}
			return grads
		},
	})
}

// measure takes mean and deviation from the rows and updates the running ones.
func (n *batchNorm) measure(x kernels.Matrix) {
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
		n.runningMean[j] = blend(n.runningMean[j], n.sum[j])
		n.runningVar[j] = blend(n.runningVar[j], s/max(1, rows-1))
	}
}

func blend(running float32, batch float64) float32 {
	return float32(float64((1-normMomentum)*float64(running)) + float64(normMomentum*batch))
}

// recall takes mean and deviation from the running statistics.
func (n *batchNorm) recall() {
	copy(n.shift, n.runningMean)
	for j, v := range n.runningVar {
		n.inverse[j] = float32(1 / math.Sqrt(float64(v)+normEpsilon))
	}
}

func (n *batchNorm) forward(dst, x kernels.Matrix, weight, bias []float32) {
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
func (b *builder) normSums(y, grad *gorgonia.Node, n *batchNorm, width int) *gorgonia.Node {
	out := dense(make([]float32, 2*width), 2, width)
	return b.apply(operation{
		kind: "norm.sums", inputs: gorgonia.Nodes{y, grad}, out: out,
		run: func(in []gorgonia.Value) error {
			g := b.live(in[1])
			clear(n.sum)
			clear(n.sumSquare)
			for i := range g.Rows {
				normalised := n.normalised[i*width : (i+1)*width]
				for j, v := range g.Row(i) {
					n.sum[j] += float64(v)
					n.sumSquare[j] += float64(float64(v) * float64(normalised[j]))
				}
			}
			sums := floats(out)
			for j := range width {
				sums[j], sums[width+j] = float32(n.sum[j]), float32(n.sumSquare[j])
			}
			return nil
		},
	})
}

// normGradRow is one row of normSums as a vector.
func (b *builder) normGradRow(sums *gorgonia.Node, row, width int) *gorgonia.Node {
	out := dense(make([]float32, width), width)
	return b.apply(operation{
		kind: "norm.row", inputs: gorgonia.Nodes{sums}, out: out,
		run: func(in []gorgonia.Value) error {
			copy(floats(out), floats(in[0])[row*width:])
			return nil
		},
	})
}

// normGradInput is weight·inverse·(G − (ΣG + normalised·ΣG∘normalised)/rows)
// in training, and weight·inverse·G in evaluation.
func (b *builder) normGradInput(grad, sums *gorgonia.Node, n *batchNorm) *gorgonia.Node {
	width := grad.Shape()[1]
	out := b.rows(width)
	return b.apply(operation{
		kind: "norm.x", inputs: gorgonia.Nodes{grad, sums, n.weight}, out: out,
		run: func(in []gorgonia.Value) error {
			g, dst := b.live(in[0]), b.live(out)
			total, weight := floats(in[1]), floats(in[2])[:width]
			inverse, normalised := n.inverse[:width], n.normalised
			share := float32(0)
			if b.training {
				share = 1 / float32(g.Rows)
			}
			plain, along := total[:width], total[width:][:width]
			for i := range g.Rows {
				row, z := dst.Row(i)[:width], normalised[i*width:][:width]
				for j, v := range g.Row(i) {
					centred := v - float32(share*(plain[j]+float32(z[j]*along[j])))
					row[j] = weight[j] * inverse[j] * centred
				}
			}
			return nil
		},
	})
}
