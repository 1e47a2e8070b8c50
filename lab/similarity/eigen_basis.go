package similarity

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"lethe"
)

// at returns basis vector i.
func (k *krylov) at(i int) []float64 {
	n := len(k.graph.nodes)
	return k.basis[i*n : (i+1)*n]
}

// leading returns the first size basis vectors as the rows of a matrix.
func (k *krylov) leading(size int) blas64.General {
	n := len(k.graph.nodes)
	return blas64.General{Rows: size, Cols: n, Stride: n, Data: k.basis}
}

// vector wraps a slice for gonum's BLAS.
func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

// start fills the first basis vector with keyed random numbers, orthogonal to the locked vectors,
// and reports whether it is not zero.
func (k *krylov) start(round uint64) bool {
	v := k.at(0)
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

// extend grows the basis from size to room vectors and leaves the next direction in the vector
// after them. It returns the new size and the length beta of that direction before normalisation;
// beta is 0 if the basis spans an invariant subspace.
func (k *krylov) extend(size, room int) (int, float64) {
	column := make([]float64, room)
	beta := 0.0
	for size < room {
		w := k.at(size + 1)
		k.apply(w, k.at(size))
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

// project removes from w its components along the locked vectors and the first size basis vectors,
// and adds the latter's coefficients to column.
func (k *krylov) project(w []float64, size int, column []float64) {
	along := make([]float64, size)
	for range 2 {
		for _, p := range k.locked {
			floats.AddScaled(w, -floats.Dot(p.vector, w), p.vector)
		}
		if size == 0 {
			continue
		}
		blas64.Gemv(blas.NoTrans, 1, k.leading(size), vector(w), 0, vector(along))
		blas64.Gemv(blas.Trans, -1, k.leading(size), vector(along), 1, vector(w))
		floats.Add(column[:size], along)
	}
}

// combine returns the basis times one column of the small eigenvectors.
func (k *krylov) combine(vectors *mat.Dense, column int) []float64 {
	size, _ := vectors.Dims()
	out := make([]float64, len(k.graph.nodes))
	for j := range size {
		floats.AddScaled(out, vectors.At(j, column), k.at(j))
	}
	return out
}

// rotate replaces the first keep basis vectors by the basis times the leading
// small eigenvectors.
func (k *krylov) rotate(vectors *mat.Dense, keep int) {
	kept := make([][]float64, keep)
	for i := range keep {
		kept[i] = k.combine(vectors, i)
	}
	for i, v := range kept {
		copy(k.at(i), v)
	}
}
