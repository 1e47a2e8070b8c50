package scoring

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"lethe"
)

const (
	// residualTolerance, times the largest |eigenvalue|, is the residual at
	// which an eigenpair counts as found. The error of an eigenvector is the
	// residual over the gap to the next eigenvalue.
	residualTolerance = 1e-10
	// basisVectors is the size at which the Krylov basis is restarted.
	basisVectors = 64
	// maxRestarts bounds the work on one start vector to about
	// 40 × (64 - 24) multiplications by the matrix.
	maxRestarts = 40
	// maxSparsePairs bounds the eigenpairs of one component, which only an
	// eigenvalue of high multiplicity can reach.
	maxSparsePairs = 96
)

// krylov finds leading eigenpairs of one component by the thick-restart Lanczos
// method (Wu and Simon, "Thick-Restart Lanczos Method for Large Symmetric
// Eigenvalue Problems", SIMAX 22, 2000) with full reorthogonalisation, done
// twice ("twice is enough", Parlett, "The Symmetric Eigenvalue Problem", 1980).
type krylov struct {
	graph  *component
	basis  [][]float64
	matrix []float64
	// locked pairs are kept out of every new basis.
	locked []eigenpair
}

// sparseEigenpairs returns the want eigenpairs of largest |eigenvalue| and all
// that tie with the last of them, zero eigenvalues left out.
//
// One start vector sees one direction of each eigenspace. What was found is
// therefore locked and the search starts again in its complement, from another
// keyed vector, until that holds nothing as large.
func sparseEigenpairs(c *component, want int) ([]eigenpair, error) {
	n := len(c.nodes)
	k := &krylov{graph: c, matrix: make([]float64, basisVectors*basisVectors)}
	for range min(n, basisVectors) + 1 {
		k.basis = append(k.basis, make([]float64, n))
	}
	for round := uint64(0); len(k.locked) < min(n, maxSparsePairs); round++ {
		floor := k.floor(want)
		found, err := k.search(round, max(1, want-len(k.locked)), floor)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			break
		}
		before := len(k.locked)
		k.locked = append(k.locked, found...)
		slices.SortStableFunc(k.locked, byMagnitude)
		if round == 0 {
			floor = k.floor(want + 1) // nothing but zeros is left out yet
		}
		k.locked = slices.DeleteFunc(k.locked, func(p eigenpair) bool { return math.Abs(p.value) < floor })
		// What met the iteration bound would meet it again.
		if len(k.locked) == before || found[len(found)-1].residual > residualTolerance*math.Abs(k.locked[0].value) {
			break
		}
	}
	return k.locked, nil
}

// floor returns the |eigenvalue| below which a further pair is of no use: a
// zero, or smaller than the want pairs that are locked.
func (k *krylov) floor(want int) float64 {
	switch {
	case len(k.locked) == 0:
		return 0
	case len(k.locked) < want:
		return tieTolerance * math.Abs(k.locked[0].value)
	default:
		return tieFloor(k.locked, want)
	}
}

// search returns up to want leading eigenpairs of the complement of what is
// locked. It returns none as soon as the complement is seen to hold no
// |eigenvalue| of floor or more, where floor is not 0.
func (k *krylov) search(round uint64, want int, floor float64) ([]eigenpair, error) {
	if !k.start(round) {
		return nil, nil
	}
	room := min(basisVectors, len(k.graph.nodes)-len(k.locked))
	clear(k.matrix)
	size := 0
	for restart := 0; ; restart++ {
		var beta float64
		size, beta = k.extend(size, room)
		small := make([]float64, 0, size*size)
		for i := range size {
			small = append(small, k.matrix[i*basisVectors:][:size]...)
		}
		values, vectors, err := symmetricEigen(size, small)
		if err != nil {
			return nil, err
		}
		// What is locked was the larger part of the spectrum.
		scale := math.Abs(values[0])
		if len(k.locked) > 0 {
			scale = max(scale, math.Abs(k.locked[0].value))
		}
		residual := func(i int) float64 { return beta * math.Abs(vectors.At(size-1, i)) }
		if floor > 0 && math.Abs(values[0])+residual(0) < floor {
			return nil, nil
		}
		take := min(want, size)
		done := beta == 0 || restart == maxRestarts
		if !done {
			done = true
			for i := range take {
				done = done && residual(i) <= residualTolerance*scale
			}
		}
		if done {
			return k.pairs(values[:take], vectors, residual), nil
		}
		size = k.restart(values, vectors, want)
	}
}

// start fills the first basis vector with keyed draws outside what is locked,
// and reports whether anything was left of it.
func (k *krylov) start(round uint64) bool {
	v := k.basis[0]
	draw := lethe.NewDraw(0, "scoring/start", uint64(len(v)), round)
	for i := range v {
		v[i] = draw.Float64() - 0.5
	}
	before := floats.Norm(v, 2)
	k.project(v, 0, nil)
	norm := floats.Norm(v, 2)
	if norm <= 1e-8*before {
		return false
	}
	floats.Scale(1/norm, v)
	return true
}

// extend grows the basis from size to room vectors and leaves the next
// direction in the vector behind them. It returns the new size and the length
// beta of that direction before it was normalised; beta is 0 if the basis spans
// an invariant subspace.
func (k *krylov) extend(size, room int) (int, float64) {
	column := make([]float64, room)
	beta := 0.0
	for size < room {
		w := k.basis[size+1]
		k.graph.multiply(w, k.basis[size])
		size++
		clear(column)
		k.project(w, size, column)
		for i := range size {
			k.matrix[i*basisVectors+size-1] = column[i]
			k.matrix[(size-1)*basisVectors+i] = column[i]
		}
		beta = floats.Norm(w, 2)
		if beta <= residualTolerance*k.graph.bound/float64(basisVectors) || size+len(k.locked) == len(w) {
			return size, 0
		}
		floats.Scale(1/beta, w)
	}
	return size, beta
}

// project removes from w what lies along the locked vectors and the first size
// basis vectors, and adds the latter's coefficients to column.
func (k *krylov) project(w []float64, size int, column []float64) {
	for range 2 {
		for _, p := range k.locked {
			floats.AddScaled(w, -floats.Dot(p.vector, w), p.vector)
		}
		for i := range size {
			h := floats.Dot(k.basis[i], w)
			column[i] += h
			floats.AddScaled(w, -h, k.basis[i])
		}
	}
}

// pairs forms the eigenvectors for the leading values.
func (k *krylov) pairs(values []float64, vectors *mat.Dense, residual func(int) float64) []eigenpair {
	out := make([]eigenpair, 0, len(values))
	for i, value := range values {
		v := k.combine(vectors, i)
		floats.Scale(1/floats.Norm(v, 2), v)
		out = append(out, eigenpair{value: value, residual: residual(i), nodes: k.graph.nodes, vector: v})
	}
	return out
}

// restart shrinks the basis to its leading approximate eigenvectors, followed
// by the next direction, and returns their number without that direction.
func (k *krylov) restart(values []float64, vectors *mat.Dense, want int) int {
	size := len(values)
	keep := min(want+size/4, size-1)
	kept := make([][]float64, keep)
	for i := range keep {
		kept[i] = k.combine(vectors, i)
	}
	for i, v := range kept {
		copy(k.basis[i], v)
	}
	copy(k.basis[keep], k.basis[size])
	clear(k.matrix)
	for i := range keep {
		k.matrix[i*basisVectors+i] = values[i]
	}
	return keep
}

// combine returns the basis times one column of the small eigenvectors.
func (k *krylov) combine(vectors *mat.Dense, column int) []float64 {
	size, _ := vectors.Dims()
	out := make([]float64, len(k.graph.nodes))
	for j := range size {
		floats.AddScaled(out, vectors.At(j, column), k.basis[j])
	}
	return out
}
