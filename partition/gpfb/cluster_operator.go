package gpfb

import (
	"math"

	"lethe/partition/coarsen"
	"lethe/partition/vectors"
)

// clusterOperator is the operator of GPFB on a level of a hierarchy: A = base + shift I - α F Fᵀ
// and B = α F M̃. The base is D^-1/2 W D^-1/2 of the graph of clusters. A row of H represents all
// nodes of a cluster, so its row of F holds the cluster's count of every class over the root of
// its size; with clusters of one node this is the operator of the graph itself.
type clusterOperator struct {
	*coarsen.Level
	// root holds the roots of the weighted degrees, size the roots of the sizes.
	root, size []float64
	alpha      float64
	columns    int
	shift      float64
	// linear is α |C_s| / sqrt(n v) per class, with n nodes in the graph.
	linear []float64
	// sums is scratch space: Fᵀ H, classes × columns.
	sums []float64
}

func newClusterOperator(h *coarsen.Hierarchy, alpha float64, columns int) *clusterOperator {
	l := h.Coarsest()
	op := &clusterOperator{
		Level: l, alpha: alpha, columns: columns,
		root: make([]float64, l.N()), size: make([]float64, l.N()),
		linear: make([]float64, h.Graph.NumClasses()),
		sums:   make([]float64, h.Graph.NumClasses()*columns),
	}
	// The eigenvalues of the base are at least -1, and those of F Fᵀ at most
	// max |C_s|, as on the graph itself.
	op.shift = 1 + float64(alpha*float64(h.Graph.LargestClass()))
	for c, count := range h.Graph.ClassCounts() {
		op.linear[c] = alpha * float64(count) / math.Sqrt(float64(h.Graph.N())*float64(columns))
	}
	for i := range op.root {
		degree := 0
		for k := l.Start[i]; k < l.Start[i+1]; k++ {
			degree += l.Weight(k)
		}
		op.root[i] = math.Sqrt(float64(degree))
		op.size[i] = math.Sqrt(float64(l.Size(i)))
	}
	return op
}

// Apply implements Matrix.
func (op *clusterOperator) Apply(p, h []float64) float64 {
	v := op.columns
	op.sumClasses(h)
	objective := 0.0
	for i := range op.N() {
		row, from := p[i*v:(i+1)*v], h[i*v:(i+1)*v]
		clear(row)
		vectors.AddScaled(row, op.shift, from)
		for k := op.Start[i]; k < op.Start[i+1]; k++ {
			at := int(op.Neighbours[k])
			vectors.AddScaled(row, float64(op.Weight(k))/(op.root[i]*op.root[at]), h[at*v:(at+1)*v])
		}
		linear := 0.0
		for k := op.LoadStart[i]; k < op.LoadStart[i+1]; k++ {
			c := int(op.LoadClass[k])
			f := float64(op.LoadCount[k]) / op.size[i]
			vectors.AddScaled(row, -op.alpha*f, op.sums[c*v:(c+1)*v])
			linear += float64(f * op.linear[c])
		}
		for j := range row {
			row[j] += linear
			objective += float64(from[j] * (row[j] + linear))
		}
	}
	return objective
}

// Smooth writes (base + I) h to dst, see Operator.Smooth.
func (op *clusterOperator) Smooth(dst, h []float64) {
	v := op.columns
	copy(dst, h)
	for i := range op.N() {
		for k := op.Start[i]; k < op.Start[i+1]; k++ {
			at := int(op.Neighbours[k])
			vectors.AddScaled(dst[i*v:(i+1)*v], float64(op.Weight(k))/(op.root[i]*op.root[at]), h[at*v:(at+1)*v])
		}
	}
}

// Shape implements Matrix.
func (op *clusterOperator) Shape() (n, v int) { return op.N(), op.columns }

// Purpose implements Matrix.
func (op *clusterOperator) Purpose() string { return "gpfb-h0-cluster" }

func (op *clusterOperator) sumClasses(h []float64) {
	v := op.columns
	clear(op.sums)
	for i := range op.N() {
		for k := op.LoadStart[i]; k < op.LoadStart[i+1]; k++ {
			c := int(op.LoadClass[k])
			vectors.AddScaled(op.sums[c*v:(c+1)*v], float64(op.LoadCount[k])/op.size[i], h[i*v:(i+1)*v])
		}
	}
}
