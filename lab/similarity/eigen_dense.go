package similarity

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// errNoConvergence means that the dense solver failed. The input is a finite symmetric matrix, so
// it is not expected; the caller should fall back to equal weights.
var errNoConvergence = errors.New("symmetric eigensolver did not converge")

// symmetricEigen decomposes a symmetric n×n matrix given row by row. Column i
// of the vectors belongs to values[i]; the order is by descending magnitude.
func symmetricEigen(n int, rows []float64) (values []float64, vectors *mat.Dense, err error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, rows), true) {
		return nil, nil, errNoConvergence
	}
	ascending := eigen.Values(nil)
	var q mat.Dense
	eigen.VectorsTo(&q)
	order := make([]int, n)
	for i := range order {
		order[i] = n - 1 - i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return byMagnitude(eigenpair{value: ascending[a]}, eigenpair{value: ascending[b]})
	})
	values = make([]float64, n)
	vectors = mat.NewDense(n, n, nil)
	for to, from := range order {
		values[to] = ascending[from]
		for r := range n {
			vectors.Set(r, to, q.At(r, from))
		}
	}
	return values, vectors, nil
}

// denseEigenpairs returns all eigenpairs of the component with non-zero eigenvalues. Their residual
// is rounding error and is set to 0.
func denseEigenpairs(c *component) ([]eigenpair, error) {
	n := len(c.nodes)
	rows := make([]float64, n*n)
	for i := range n {
		for _, j := range c.targets[c.offsets[i]:c.offsets[i+1]] {
			rows[i*n+j] = 1
		}
	}
	values, vectors, err := symmetricEigen(n, rows)
	if err != nil {
		return nil, err
	}
	var pairs []eigenpair
	for i, value := range values {
		if math.Abs(value) <= tieTolerance*math.Abs(values[0]) {
			break
		}
		pairs = append(pairs, eigenpair{value: value, nodes: c.nodes, vector: mat.Col(nil, i, vectors)})
	}
	return pairs, nil
}
