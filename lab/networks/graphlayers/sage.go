package graphlayers

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// SAGE adds a GraphSAGE convolution with mean aggregation (Hamilton, Ying and
// Leskovec, "Inductive Representation Learning on Large Graphs", NIPS 2017):
// mean_{j∈N(i)} x_j·neighbours + bias + x_i·self. x is rows × in or a source,
// both weights are in × out. Without neighbours the mean is 0.
//
// The mean is taken after the product, which is the narrower side where x is
// wide, and touches no zero where x is sparse.
func SAGE(b *layers.Builder, x, neighbours, bias, self *gorgonia.Node) *gorgonia.Node {
	if b.Needs(x) {
		return layers.Bias(b, sageMean(b, LinearPair(b, x, neighbours, self, nil, nil)), bias)
	}
	// Features need no gradient, so x may be used twice, which saves the copies of a pair.
	mean := neighbourMean(b, layers.Linear(b, x, neighbours, nil))
	return layers.Bias(b, layers.Sum(b, mean, layers.Linear(b, x, self, nil)), bias)
}

// SAGEInput is SAGE of features whose neighbour means are in the batch: x is Source, and
// Aggregated was filled with NeighbourMean.
func SAGEInput(b *layers.Builder, x, neighbours, bias, self *gorgonia.Node) *gorgonia.Node {
	return layers.Sum(b, layers.Linear(b, b.Aggregated(layers.Width(x)), neighbours, bias), layers.Linear(b, x, self, nil))
}

// sageMean is mean_{j∈N(i)} l_j + r_i for pairs [l | r].
func sageMean(b *layers.Builder, pairs *gorgonia.Node) *gorgonia.Node {
	half := layers.Width(pairs) / 2
	out := b.NewRows(half)
	return b.Apply(layers.Operation{
		Kind: "sage", Inputs: gorgonia.Nodes{pairs}, Out: out,
		Run: func(in []gorgonia.Value) error {
			dst, from := b.Live(out), b.Live(in[0])
			derived(b.Work).graph.mean(b.Work.Kernels, dst, from)
			right := kernels.Matrix{Rows: from.Rows, Cols: from.Cols, Data: from.Data[half:]}
			b.Work.Kernels.Rows.AddRows(dst, dst, right)
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.NewRows(2 * half)
			return gorgonia.Nodes{b.Apply(layers.Operation{
				Kind: "sage.x", Inputs: gorgonia.Nodes{grad}, Out: back,
				Run: func(in []gorgonia.Value) error {
					sageGrad(b.Work, b.Live(back), b.Live(in[0]))
					return nil
				},
			})}
		},
	})
}

// neighbourMean is mean_{j∈N(i)} x_j.
func neighbourMean(b *layers.Builder, x *gorgonia.Node) *gorgonia.Node {
	out := b.NewRows(layers.Width(x))
	return b.Apply(layers.Operation{
		Kind: "mean", Inputs: gorgonia.Nodes{x}, Out: out,
		Run: func(in []gorgonia.Value) error {
			derived(b.Work).graph.mean(b.Work.Kernels, b.Live(out), b.Live(in[0]))
			return nil
		},
		Pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.NewRows(layers.Width(grad))
			return gorgonia.Nodes{b.Apply(layers.Operation{
				Kind: "mean.x", Inputs: gorgonia.Nodes{grad}, Out: back,
				Run: func(in []gorgonia.Value) error {
					derived(b.Work).graph.meanGrad(b.Work.Kernels.Rows, b.Live(back), b.Live(in[0]))
					return nil
				},
			})}
		},
	})
}

// sageGrad stores [Σ_{i∈N(j)} g_i/|N(i)| | g_j].
func sageGrad(w *layers.Workspace, dst, g kernels.Matrix) {
	derived(w).graph.meanGrad(w.Kernels.Rows, dst, g)
	for j := range dst.Rows {
		copy(dst.Row(j)[g.Cols:], g.Row(j))
	}
}

// mean stores mean_{j∈N(i)} x_j in dst, which may have fewer columns; 0 without neighbours.
// Neighbours are added in ascending order.
func (g *graph) mean(set kernels.Set, dst, x kernels.Matrix) {
	set.Rows.SumRows(dst, x, kernels.Lists{Starts: g.open.Starts, Rows: g.open.Targets})
	for i := range dst.Rows {
		if degree := len(g.open.Of(i)); degree > 1 {
			row := dst.Row(i)
			set.Elements.Scale(row, row, 1/float32(degree))
		}
	}
}

// meanGrad stores Σ_{i∈N(j)} g_i/|N(i)| in the common columns of both matrices.
func (g *graph) meanGrad(rows kernels.Rows, dst, grad kernels.Matrix) {
	rows.SumRows(dst, grad, kernels.Lists{Starts: g.open.Starts, Rows: g.open.Targets, Weights: g.share})
}
