package layers

import (
	"errors"

	"gorgonia.org/gorgonia"

	"lethe/internal/portable/gomath"
)

// ErrNoLabels means that no row contributes to the loss: every label is unknown, or every class
// that occurs has weight 0. Skip the slice.
var ErrNoLabels = errors.New("no labelled rows")

// CrossEntropy adds the mean negative log-likelihood of the labelled rows, weighted by class: Σ
// w[y]·nll / Σ w[y] over rows with y ≥ 0, like PyTorch's cross_entropy with ignore_index -1. It
// fails with ErrNoLabels if the sum of weights is 0.
func CrossEntropy(b *Builder, logits *gorgonia.Node) *gorgonia.Node {
	out := gorgonia.NewF32(0)
	probabilities := make([]float64, b.Capacity*Width(logits))
	return b.Apply(Operation{
		Kind: "loss", Inputs: gorgonia.Nodes{logits}, Out: out,
		Run: func(in []gorgonia.Value) error {
			z, batch := b.Live(in[0]), b.Work.Batch
			total, weight := 0.0, 0.0
			for i, y := range batch.Labels {
				if y < 0 {
					continue
				}
				logNorm := Softmax(probabilities[i*z.Cols:(i+1)*z.Cols], z.Row(i))
				w := float64(batch.ClassWeights[y])
				total += float64(w * (logNorm - float64(z.Row(i)[y])))
				weight += w
			}
			if weight == 0 {
				return ErrNoLabels
			}
			b.Work.Loss = total / weight
			*out = gorgonia.F32(b.Work.Loss)
			return nil
		},
		Pull: func(loss, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{crossEntropyGrad(b, logits, loss, grad, probabilities)}
		},
	})
}

// crossEntropyGrad is w[y]/Σw · (softmax − one-hot) for labelled rows, 0 for the others, times
// the gradient of the loss. The input loss makes it run after the forward pass, which computes
// the probabilities.
func crossEntropyGrad(b *Builder, logits, loss, grad *gorgonia.Node, probabilities []float64) *gorgonia.Node {
	out := b.NewRows(Width(logits))
	return b.Apply(Operation{
		Kind: "loss.x", Inputs: gorgonia.Nodes{logits, loss, grad}, Out: out,
		Run: func(in []gorgonia.Value) error {
			dst, batch := b.Live(out), b.Work.Batch
			weight := 0.0
			for _, y := range batch.Labels {
				if y >= 0 {
					weight += float64(batch.ClassWeights[y])
				}
			}
			upstream := float64(*in[2].(*gorgonia.F32))
			clear(dst.Data)
			for i, y := range batch.Labels {
				if y < 0 {
					continue
				}
				share := upstream * float64(batch.ClassWeights[y]) / weight
				row := dst.Row(i)
				for c := range row {
					p := probabilities[i*dst.Cols+c]
					if c == int(y) {
						p--
					}
					row[c] = float32(share * p)
				}
			}
			return nil
		},
	})
}

// Softmax stores the class probabilities of one row of logits and returns the
// logarithm of Σ exp(z).
func Softmax(dst []float64, z []float32) float64 {
	largest := float64(z[0])
	for _, v := range z[1:] {
		largest = max(largest, float64(v))
	}
	sum := 0.0
	for c, v := range z {
		dst[c] = Exponential(float64(v) - largest)
		sum += dst[c]
	}
	for c := range dst {
		dst[c] /= sum
	}
	return largest + gomath.Log(sum)
}
