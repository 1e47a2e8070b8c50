package graphlayers

import (
	"lethe/lab/networks/loops"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
)

// ends is the part of a score that is linear in each end of an edge, source·z_j + target·z_i, and
// its gradient. GAT and SuperGAT share it.
type ends struct {
	*attention
	// source and target are the attention vectors, turned. bySource and byTarget are each node's
	// contributions to the scores, rows × heads, and later the gradients for them.
	source, target, bySource, byTarget []float32
	// gradSource and gradTarget are the gradients for the attention vectors; the turned ones
	// accumulate them.
	gradSource, gradTarget             []float32
	turnedGradSource, turnedGradTarget []float32
}

func newEnds(b *layers.Builder, shape Attention) ends {
	n := ends{attention: newAttention(b, shape)}
	for _, buf := range []*[]float32{
		&n.source, &n.target, &n.gradSource, &n.gradTarget, &n.turnedGradSource, &n.turnedGradTarget,
	} {
		*buf = make([]float32, n.size())
	}
	n.bySource, n.byTarget = make([]float32, b.Capacity*n.Heads), make([]float32, b.Capacity*n.Heads)
	return n
}

// sum stores source·z_j + target·z_i in pre for every edge; z is turned.
func (n *ends) sum(z kernels.Matrix, source, target []float32) {
	n.turnVector(n.source, source)
	n.turnVector(n.target, target)
	graph := derived(n.work).graph
	loops.Of(n.work.Kernels).Heads.DotHeadRows(n.bySource, n.source, z, graph.all, n.Heads)
	loops.Of(n.work.Kernels).Heads.DotHeadRows(n.byTarget, n.target, z, graph.all, n.Heads)
	for i := range graph.Nodes {
		own := n.edge(n.byTarget, i)
		for e := graph.starts[i]; e < graph.starts[i+1]; e++ {
			pre, other := n.edge(n.pre, e), n.edge(n.bySource, int(graph.targets[e]))
			for h, v := range own {
				pre[h] = v + other[h]
			}
		}
	}
}

// pullSum adds the gradient for z to dz, both turned, and stores those for the attention vectors,
// given the gradients for the sums.
func (n *ends) pullSum(dz, z kernels.Matrix, grad []float32) {
	graph, k := derived(n.work).graph, loops.Of(n.work.Kernels)
	clear(n.bySource)
	clear(n.byTarget)
	for i := range graph.Nodes {
		own := n.edge(n.byTarget, i)
		for e := graph.starts[i]; e < graph.starts[i+1]; e++ {
			d, other := n.edge(grad, e), n.edge(n.bySource, int(graph.targets[e]))
			for h, v := range d {
				own[h] += v
				other[h] += v
			}
		}
	}
	k.Heads.AddHeadRows(dz, n.source, graph.all, n.bySource, n.Heads)
	k.Heads.AddHeadRows(dz, n.target, graph.all, n.byTarget, n.Heads)
	k.Heads.SumHeadRows(n.turnedGradSource, z, graph.all, n.bySource, n.Heads)
	k.Heads.SumHeadRows(n.turnedGradTarget, z, graph.all, n.byTarget, n.Heads)
	n.turnVectorBack(n.gradSource, n.turnedGradSource)
	n.turnVectorBack(n.gradTarget, n.turnedGradTarget)
}
