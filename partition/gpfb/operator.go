package gpfb

import (
	"math"

	"lethe/partition/graph"
	"lethe/partition/vectors"
)

// Operator is the n × n matrix A = base + shift I - α F Fᵀ of GPFB and the linear term B = α F
// M̃, stored in factors: a sparse matrix, a diagonal and the nodes' classes. F is the one-hot
// matrix of classes (n × h) and M̃[s,j] = |C_s| / sqrt(n v) for each of the v columns j.
//
// The base is D^-1/2 W D^-1/2.
type Operator struct {
	g *graph.Graph
	// start and neighbours are the graph's rows.
	start      []int
	neighbours []uint32
	// Weight is parallel to neighbours: the off-diagonal entries of the base.
	Weight []float64
	// Diagonal is the base's diagonal plus the shift, which makes A positive semidefinite. The
	// ascent requires that.
	Diagonal []float64
	alpha    float64
	columns  int
	// classSums is scratch space: Fᵀ H, classes × columns.
	classSums []float64
}

// NewOperator builds the matrices for one column per shard.
func NewOperator(g *graph.Graph, columns int, alpha float64) *Operator {
	start, neighbours := g.Rows()
	op := &Operator{
		g: g, start: start, neighbours: neighbours, alpha: alpha, columns: columns,
		Weight:    make([]float64, len(neighbours)),
		Diagonal:  make([]float64, g.N()),
		classSums: make([]float64, g.NumClasses()*columns),
	}
	for i := range g.N() {
		// The eigenvalues of the base are at least -1, and those of F Fᵀ at most max |C_s|.
		op.Diagonal[i] = 1 + float64(alpha*float64(g.LargestClass()))
		for k := start[i]; k < start[i+1]; k++ {
			op.Weight[k] = 1 / math.Sqrt(float64(len(g.Neighbors(i))*len(g.Neighbors(int(neighbours[k])))))
		}
	}
	return op
}

// Apply implements Matrix: it writes P = A H + B to p and returns the objective of H,
// Tr(Hᵀ A H) + 2 Tr(Hᵀ B) = Tr(Hᵀ P) + Tr(Hᵀ B). One call costs O((|E| + n) v).
func (op *Operator) Apply(p, h []float64) float64 {
	v := op.columns
	op.sumClasses(h)
	root := math.Sqrt(float64(op.g.N()) * float64(v))
	objective := 0.0
	for i := range op.g.N() {
		class := int(op.g.Class(i))
		row, from := p[i*v:(i+1)*v], h[i*v:(i+1)*v]
		sums := op.classSums[class*v : (class+1)*v]
		linear := op.alpha * float64(op.g.ClassCounts()[class]) / root
		for j := range row {
			row[j] = float64(op.Diagonal[i]*from[j]) - float64(op.alpha*sums[j]) + linear
		}
		for k := op.start[i]; k < op.start[i+1]; k++ {
			at := int(op.neighbours[k]) * v
			vectors.AddScaled(row, op.Weight[k], h[at:at+v])
		}
		for j := range row {
			objective += float64(from[j] * (row[j] + linear))
		}
	}
	return objective
}

// Shape implements Matrix.
func (op *Operator) Shape() (n, v int) { return op.g.N(), op.columns }

// Purpose implements Matrix.
func (op *Operator) Purpose() string { return "gpfb-h0" }

// Smooth implements Matrix: it writes (base + I) h to dst.
func (op *Operator) Smooth(dst, h []float64) {
	v := op.columns
	copy(dst, h)
	for i := range op.g.N() {
		for k := op.start[i]; k < op.start[i+1]; k++ {
			at := int(op.neighbours[k]) * v
			vectors.AddScaled(dst[i*v:(i+1)*v], op.Weight[k], h[at:at+v])
		}
	}
}

func (op *Operator) sumClasses(h []float64) {
	v := op.columns
	clear(op.classSums)
	for i := range op.g.N() {
		class := int(op.g.Class(i))
		vectors.AddScaled(op.classSums[class*v:(class+1)*v], 1, h[i*v:(i+1)*v])
	}
}
