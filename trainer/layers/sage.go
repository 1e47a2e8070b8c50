package layers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// SAGE adds a GraphSAGE convolution with mean aggregation (Hamilton, Ying and
// Leskovec, "Inductive Representation Learning on Large Graphs", NIPS 2017):
// mean_{j∈N(i)} x_j·neighbours + bias + x_i·self. x is rows × in or a source,
// both weights are in × out. Without neighbours the mean is 0.
//
// The mean is taken after the product, which is the narrower side where x is
// wide, and touches no zero where x is sparse.
func SAGE(b *Builder, x, neighbours, bias, self *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	if b.needs[x] {
		return Bias(b, sageMean(b, LinearPair(b, x, neighbours, self, nil, nil)), bias)
	}
	// Features need no gradient, so x may be used twice, which saves the copies of a pair.
	return Bias(b, Sum(b, neighbourMean(b, Linear(b, x, neighbours, nil)), Linear(b, x, self, nil)), bias)
}

// SAGEInput is SAGE of features whose neighbour means are in the batch: x is Source, and
// Aggregated was filled with NeighbourMean.
func SAGEInput(b *Builder, x, neighbours, bias, self *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	return Sum(b, Linear(b, b.Aggregated(width(x)), neighbours, bias), Linear(b, x, self, nil))
}

// sageMean is mean_{j∈N(i)} l_j + r_i for pairs [l | r].
func sageMean(b *Builder, pairs *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	half := width(pairs) / 2
	out := b.rows(half)
	return b.apply(operation{
		kind: "sage", inputs: gorgonia.Nodes{pairs}, out: out,
		run: func(in []gorgonia.Value) error {
			dst, from := b.live(out), b.live(in[0])
			b.Work.Batch.Graph.mean(b.Work.kernels, dst, from)
			right := kernels.Matrix{Rows: from.Rows, Cols: from.Cols, Data: from.Data[half:]}
			b.Work.kernels.Rows.AddRows(dst, dst, right)
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(2 * half)
			return gorgonia.Nodes{b.apply(operation{
				kind: "sage.x", inputs: gorgonia.Nodes{grad}, out: back,
				run: func(in []gorgonia.Value) error {
					b.Work.sageGrad(b.live(back), b.live(in[0]))
					return nil
				},
			})}
		},
	})
}

// neighbourMean is mean_{j∈N(i)} x_j.
func neighbourMean(b *Builder, x *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	out := b.rows(width(x))
	return b.apply(operation{
		kind: "mean", inputs: gorgonia.Nodes{x}, out: out,
		run: func(in []gorgonia.Value) error {
			b.Work.Batch.Graph.mean(b.Work.kernels, b.live(out), b.live(in[0]))
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(width(grad))
			return gorgonia.Nodes{b.apply(operation{
				kind: "mean.x", inputs: gorgonia.Nodes{grad}, out: back,
				run: func(in []gorgonia.Value) error {
					b.Work.Batch.Graph.meanGrad(b.Work.kernels.Rows, b.live(back), b.live(in[0]))
					return nil
				},
			})}
		},
	})
}

// sageGrad stores [Σ_{i∈N(j)} g_i/|N(i)| | g_j].
func (w *Workspace) sageGrad(dst, g kernels.Matrix) {
	w.Batch.Graph.meanGrad(w.kernels.Rows, dst, g)
	for j := range dst.Rows {
		copy(dst.Row(j)[g.Cols:], g.Row(j))
	}
}

// mean stores mean_{j∈N(i)} x_j in dst, which may have fewer columns; 0 without neighbours.
// Neighbours are added in ascending order.
func (g *Graph) mean(set kernels.Set, dst, x kernels.Matrix) {
	set.Rows.SumRows(dst, x, kernels.Lists{Starts: g.starts, Rows: g.targets})
	for i := range dst.Rows {
		if degree := len(g.of(i)); degree > 1 {
			row := dst.Row(i)
			set.Elements.Scale(row, row, 1/float32(degree))
		}
	}
}

// meanGrad stores Σ_{i∈N(j)} g_i/|N(i)| in the common columns of both matrices.
func (g *Graph) meanGrad(rows kernels.Rows, dst, grad kernels.Matrix) {
	rows.SumRows(dst, grad, kernels.Lists{Starts: g.starts, Rows: g.targets, Weights: g.share})
}
