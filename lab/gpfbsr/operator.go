package gpfbsr

import (
	"lethe/partition/gpfb"
	"lethe/partition/graph"
	"lethe/partition/vectors"
)

// operator is that of the service, or that of the base W - D, and the linear term of GPFB-SR.
type operator struct {
	*gpfb.Operator
	g *graph.Graph
	Config
	columns int
	// shift makes A positive semidefinite. spread is the part that the base needs: a bound on its eigenvalues.
	// edge is the size of an edge's contribution to the objective, to compare increases with.
	shift, spread, edge float64
	// coupling adds β G Rᵀ to B for GPFB-SR; nil for GPFB-Fast.
	coupling *coupling
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

// newOperator builds the matrices for one column per shard.
func newOperator(g *graph.Graph, columns int, c Config) *operator {
	op := &operator{
		Operator: gpfb.NewOperator(g, columns, c.Alpha), g: g, Config: c, columns: columns, spread: 1, edge: 1,
	}
	if c.Unnormalised {
		weights := make([]float64, 2*g.NumEdges())
		for k := range weights {
			weights[k] = 1
		}
		op.unnormalise(weights)
	}
	return op
}

// unnormalise makes the base W - D of the weights of W, which are parallel to the rows of the graph and must be
// symmetric and not negative.
func (op *operator) unnormalise(weights []float64) {
	start, _ := op.g.Rows()
	degree := make([]float64, op.g.N())
	largest, total := 0.0, 0.0
	for i := range degree {
		for _, w := range weights[start[i]:start[i+1]] {
			degree[i] += w
		}
		largest = max(largest, degree[i])
		total += degree[i]
	}
	op.spread = 2 * largest // the eigenvalues of W - D are at least that, negated
	op.edge = 2 * total / max(1, float64(op.g.N()))
	op.shift = op.spread + float64(op.Alpha*float64(op.g.LargestClass()))
	op.Weight = weights
	for i, d := range degree {
		op.Diagonal[i] = op.shift - d
	}
}

// Apply implements gpfb.Matrix.
func (op *operator) Apply(p, h []float64) float64 {
	objective := op.Operator.Apply(p, h)
	if op.coupling != nil {
		v := op.columns
		for i := range op.g.N() {
			objective += 2 * op.coupling.add(p[i*v:(i+1)*v], h[i*v:(i+1)*v], i)
		}
	}
	return objective
}

// Smooth implements gpfb.Matrix: it writes (base / spread + I) h to dst. Plain methods start from the draws.
func (op *operator) Smooth(dst, h []float64) {
	switch {
	case op.Plain:
		copy(dst, h)
		return
	case !op.Unnormalised:
		op.Operator.Smooth(dst, h)
		return
	}
	v := op.columns
	clear(dst)
	start, neighbours := op.g.Rows()
	for i := range op.g.N() {
		row := dst[i*v : (i+1)*v]
		vectors.AddScaled(row, (op.Diagonal[i]-op.shift)/op.spread+1, h[i*v:(i+1)*v])
		for k := start[i]; k < start[i+1]; k++ {
			at := int(neighbours[k]) * v
			vectors.AddScaled(row, op.Weight[k]/op.spread, h[at:at+v])
		}
	}
}
