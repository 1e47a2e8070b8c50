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
func (b *Builder) SAGE(x, neighbours, bias, self *gorgonia.Node) *gorgonia.Node {
	return b.Bias(b.sageMean(b.LinearPair(x, neighbours, self, nil, nil)), bias)
}

// SAGEInput is SAGE of features whose neighbour means the batch holds: x is
// Source, and Aggregated was filled with NeighbourMean.
func (b *Builder) SAGEInput(x, neighbours, bias, self *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	return b.Sum(b.Linear(b.Aggregated(width(x)), neighbours, bias), b.Linear(x, self, nil))
}

// sageMean is mean_{j∈N(i)} l_j + r_i for pairs [l | r].
func (b *Builder) sageMean(pairs *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	half := width(pairs) / 2
	out := b.rows(half)
	return b.apply(operation{
		kind: "sage", inputs: gorgonia.Nodes{pairs}, out: out,
		run: func(in []gorgonia.Value) error {
			dst, from, graph := b.live(out), b.live(in[0]), b.Work.Batch.Graph
			b.Work.kernels.SumRows(dst, from, kernels.Lists{Starts: graph.starts, Rows: graph.targets})
			for i := range dst.Rows {
				row := dst.Row(i)
				if degree := len(graph.of(i)); degree > 1 {
					b.Work.kernels.Scale(row, row, 1/float32(degree))
				}
				b.Work.kernels.Add(row, from.Row(i)[half:])
			}
			return nil
		},
		pull: func(_, grad *gorgonia.Node) gorgonia.Nodes {
			back := b.rows(2 * half)
			return gorgonia.Nodes{b.apply(operation{
				kind: "sage.x", inputs: gorgonia.Nodes{grad}, out: back,
				run: func(in []gorgonia.Value) error {
					b.sageGrad(b.live(back), b.live(in[0]))
					return nil
				},
			})}
		},
	})
}

// sageGrad stores [Σ_{i∈N(j)} g_i/|N(i)| | g_j].
func (b *Builder) sageGrad(dst, g kernels.Matrix) {
	graph := b.Work.Batch.Graph
	b.Work.kernels.SumRows(dst, g, kernels.Lists{Starts: graph.starts, Rows: graph.targets, Weights: graph.share})
	for j := range dst.Rows {
		copy(dst.Row(j)[g.Cols:], g.Row(j))
	}
}
