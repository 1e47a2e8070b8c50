package gpfb

import (
	"math"

	"lethe/partition/graph"
	"lethe/partition/vectors"
)

// operator is the n × n matrix A = base + shift I - α F Fᵀ of GPFB and the linear term B = α F
// M̃, stored in factors: a sparse matrix, a diagonal and the nodes' classes. F is the one-hot
// matrix of classes (n × h) and M̃[s,j] = |C_s| / sqrt(n v) for each of the v columns j.
//
// The base is D^-1/2 W D^-1/2, or W - D.
type operator struct {
	g *graph.Graph
	// start and neighbours are the graph's rows.
	start      []int
	neighbours []uint32
	// weight is parallel to neighbours: the off-diagonal entries of the base.
	weight []float64
	// diagonal is the base's diagonal plus the shift.
	diagonal []float64
	alpha    float64
	columns  int
	// shift makes A positive semidefinite, which the ascent requires. spread is the part that the
	// base needs: a bound on its eigenvalues. scale is the size of an edge's contribution to the
	// objective, to compare increases with.
	shift, spread, scale float64
	// coupling adds β G Rᵀ to B for GPFB-SR; nil for GPFB-Fast.
	coupling *coupling
	// classSums is scratch space: Fᵀ H, classes × columns.
	classSums []float64
}

// coupling is the matrix β G Rᵀ (n × v) in factors: G has one entry per row, in the column of the
// node's shard.
type coupling struct {
	// weight holds β times that entry.
	weight   []float64
	y        graph.Assignment
	rotation []float64 // R, v × v
}

// add adds row i to a row, and returns the inner product of row i and h.
func (c *coupling) add(row, h []float64, i int) float64 {
	v, s := len(row), int(c.y[i])
	product := 0.0
	for k := range row {
		x := float64(c.weight[i] * c.rotation[k*v+s])
		row[k] += x
		product += float64(h[k] * x)
	}
	return product
}

// unitWeights weighs every edge with 1.
func unitWeights(g *graph.Graph) []float64 {
	weights := make([]float64, 2*g.NumEdges())
	for k := range weights {
		weights[k] = 1
	}
	return weights
}

// newOperator builds the matrices for one column per shard from the weights of W, which are
// parallel to neighbours and must be symmetric and not negative.
func newOperator(g *graph.Graph, weights []float64, columns int, c Config) *operator {
	start, neighbours := g.Rows()
	op := &operator{
		g: g, start: start, neighbours: neighbours, alpha: c.Alpha, columns: columns,
		weight:    make([]float64, len(weights)),
		diagonal:  make([]float64, g.N()),
		classSums: make([]float64, g.NumClasses()*columns),
	}
	degree := make([]float64, g.N())
	largest, total := 0.0, 0.0
	for i := range degree {
		for k := start[i]; k < start[i+1]; k++ {
			degree[i] += weights[k]
		}
		largest = max(largest, degree[i])
		total += degree[i]
	}
	// The eigenvalues of W - D are at least -2 max degree, those of the
	// normalised base at least -1, and those of F Fᵀ at most max |C_s|.
	op.spread, op.scale = 1, 1
	if c.Unnormalised {
		op.spread = 2 * largest
		op.scale = 2 * total / max(1, float64(g.N()))
	}
	op.shift = op.spread + float64(c.Alpha*float64(g.LargestClass()))

	for i := range degree {
		op.diagonal[i] = op.shift
		if c.Unnormalised {
			op.diagonal[i] -= degree[i]
		}
		for k := start[i]; k < start[i+1]; k++ {
			op.weight[k] = weights[k]
			if !c.Unnormalised && weights[k] > 0 {
				op.weight[k] /= math.Sqrt(degree[i] * degree[neighbours[k]])
			}
		}
	}
	return op
}

// apply writes P = A H + B to p and returns the objective of H,
// Tr(Hᵀ A H) + 2 Tr(Hᵀ B) = Tr(Hᵀ P) + Tr(Hᵀ B). One call costs O((|E| + n) v).
func (op *operator) apply(p, h []float64) float64 {
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
			row[j] = float64(op.diagonal[i]*from[j]) - float64(op.alpha*sums[j]) + linear
		}
		for k := op.start[i]; k < op.start[i+1]; k++ {
			at := int(op.neighbours[k]) * v
			vectors.AddScaled(row, op.weight[k], h[at:at+v])
		}
		for j := range row {
			objective += float64(from[j] * (row[j] + linear))
		}
		if op.coupling != nil {
			objective += 2 * op.coupling.add(row, from, i)
		}
	}
	return objective
}

func (op *operator) shape() (n, v int) { return op.g.N(), op.columns }

func (op *operator) purpose() string { return "gpfb-h0" }

func (op *operator) edge() float64 { return op.scale }

// smooth writes (base / spread + I) h to dst.
func (op *operator) smooth(dst, h []float64) {
	v := op.columns
	clear(dst)
	for i := range op.g.N() {
		row := dst[i*v : (i+1)*v]
		vectors.AddScaled(row, (op.diagonal[i]-op.shift)/op.spread+1, h[i*v:(i+1)*v])
		for k := op.start[i]; k < op.start[i+1]; k++ {
			at := int(op.neighbours[k]) * v
			vectors.AddScaled(row, op.weight[k]/op.spread, h[at:at+v])
		}
	}
}

func (op *operator) sumClasses(h []float64) {
	v := op.columns
	clear(op.classSums)
	for i := range op.g.N() {
		class := int(op.g.Class(i))
		vectors.AddScaled(op.classSums[class*v:(class+1)*v], 1, h[i*v:(i+1)*v])
	}
}
