package similarity

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// residualTolerance, times the largest |eigenvalue|, is the residual at which an eigenpair
	// counts as found. The error of an eigenvector is the residual divided by the gap to the next
	// eigenvalue.
	residualTolerance = 1e-10
	// basisVectors is the size at which the Krylov basis is restarted.
	basisVectors = 64
	// looks is the number of new basis vectors between checks for convergence, which would be
	// expensive after each one.
	looks = 8
	// plainRestarts is the number of restarts of the basis before a filter is considered.
	plainRestarts = 1
	// maxRestarts bounds the work on one start vector.
	maxRestarts = 40
	// maxSparsePairs bounds the eigenpairs of one component; only an eigenvalue of high
	// multiplicity can reach it.
	maxSparsePairs = 96
)

// krylov finds leading eigenpairs of one component by the thick-restart Lanczos
// method (Wu and Simon, "Thick-Restart Lanczos Method for Large Symmetric
// Eigenvalue Problems", SIMAX 22, 2000) with full reorthogonalisation, done
// twice ("twice is enough", Parlett, "The Symmetric Eigenvalue Problem", 1980).
// The operator is the adjacency matrix A, or a filter of it.
type krylov struct {
	graph  *component
	filter filter
	// basis holds one vector after the other.
	basis  []float64
	matrix []float64
	// spare is scratch space for applying the filter.
	spare [2][]float64
	// locked pairs are excluded from every new basis.
	locked []eigenpair
}

// sparseEigenpairs returns the want eigenpairs of largest |eigenvalue| and all that tie with the
// last of them, without zero eigenvalues.
//
// One start vector finds one direction of each eigenspace. Found pairs are therefore locked and the
// search restarts in their complement, from another keyed vector, until the complement holds
// nothing as large.
func sparseEigenpairs(c *component, want int) ([]eigenpair, error) {
	n := len(c.nodes)
	k := &krylov{
		graph: c, filter: filter{degree: 1},
		matrix: make([]float64, basisVectors*basisVectors),
		basis:  make([]float64, n*(min(n, basisVectors)+1)),
		spare:  [2][]float64{make([]float64, n), make([]float64, n)},
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
		// A search that reached the iteration bound would reach it again.
		if len(k.locked) == before || found[len(found)-1].residual > residualTolerance*math.Abs(k.locked[0].value) {
			break
		}
	}
	return k.locked, nil
}

// floor returns the |eigenvalue| below which another pair is not needed: a zero, or smaller than
// the want locked pairs.
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

// ritz is a basis's approximation of the operator: its eigenvalues within the span of the basis by
// descending magnitude, their vectors in terms of the basis, and the length of the component that
// the operator adds to it.
type ritz struct {
	values  []float64
	vectors *mat.Dense
	beta    float64
}

// residual bounds the distance of value i from an eigenvalue of the operator.
func (r *ritz) residual(i int) float64 {
	return float64(r.beta * math.Abs(r.vectors.At(len(r.values)-1, i)))
}

// search returns up to want leading eigenpairs of the complement of the locked vectors. It returns
// none as soon as the complement provably holds no |eigenvalue| of floor or more, if floor is not
// 0.
func (k *krylov) search(round uint64, want int, floor float64) ([]eigenpair, error) {
	if !k.start(round) {
		return nil, nil
	}
	room := min(basisVectors, len(k.graph.nodes)-len(k.locked))
	clear(k.matrix)
	size := 0
	for restart := 0; ; {
		r, err := k.grow(size, min(room, size+looks))
		if err != nil {
			return nil, err
		}
		size = len(r.values)
		// The locked pairs were the larger part of the spectrum.
		scale := math.Abs(r.values[0])
		if len(k.locked) > 0 {
			scale = max(scale, math.Abs(k.filter.value(k.locked[0].value)))
		}
		if floor > 0 && math.Abs(r.values[0])+r.residual(0) < k.filter.least(floor) {
			return nil, nil
		}
		take := min(want, size)
		done := r.beta == 0 || restart == maxRestarts
		for i := 0; i < take && !done; i++ {
			if r.residual(i) > residualTolerance*scale {
				break
			}
			done = i == take-1 && size > take
		}
		switch {
		case done:
			return k.pairs(r, take), nil
		case size < room:
		case restart >= plainRestarts && k.sharpen(r, want):
			size = 0
			restart++
		default:
			size = k.restart(r, want)
			restart++
		}
	}
}

// grow extends the basis and decomposes the operator within it.
func (k *krylov) grow(size, room int) (*ritz, error) {
	size, beta := k.extend(size, room)
	small := make([]float64, 0, size*size)
	for i := range size {
		small = append(small, k.matrix[i*basisVectors:][:size]...)
	}
	values, vectors, err := symmetricEigen(size, small)
	return &ritz{values: values, vectors: vectors, beta: beta}, err
}

// restart shrinks the basis to its leading approximate eigenvectors, followed
// by the next direction, and returns their number without that direction.
func (k *krylov) restart(r *ritz, want int) int {
	size := len(r.values)
	keep := min(want+size/4, size-1)
	k.rotate(r.vectors, keep)
	copy(k.at(keep), k.at(size))
	clear(k.matrix)
	for i := range keep {
		k.matrix[i*basisVectors+i] = r.values[i]
	}
	return keep
}
