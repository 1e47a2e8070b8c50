package similarity

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	// filterGain is the logarithm of what the filter makes of the largest
	// |eigenvalue|, against 1 for those inside its interval. Of 1, 2, 3, 4 and 6
	// it took least time on a path of 4,159 nodes.
	filterGain = 3.0
	// maxFilterDegree bounds the multiplications by the matrix for one basis
	// vector.
	maxFilterDegree = 301
)

// filter is the operator T_m(A / interval) with the Chebyshev polynomial of odd
// degree m, or A itself if m is 1 and the interval 0. It has A's eigenvectors.
// Eigenvalues within ±interval become at most 1 in magnitude, those outside
// grow exponentially with m and keep their order and, m being odd, their sign
// (Zhou and Saad, "A Chebyshev-Davidson Algorithm for Large Symmetric
// Eigenproblems", SIMAX 29, 2007). A multiplication by A is cheap beside a
// vector of the basis, so this is how eigenvalues are found that lie closer to
// each other than a basis of bearable size can resolve.
type filter struct {
	degree   int
	interval float64
}

// apply sets dst to the operator times src.
func (k *krylov) apply(dst, src []float64) {
	k.graph.multiply(dst, src)
	if k.filter.degree == 1 {
		return
	}
	floats.Scale(1/k.filter.interval, dst)
	before, current := k.spare[0], k.spare[1]
	copy(before, src)
	copy(current, dst)
	for range k.filter.degree - 1 {
		k.graph.recur(before, current, 2/k.filter.interval)
		before, current = current, before
	}
	copy(dst, current)
}

// value returns what becomes of an eigenvalue of A.
func (f filter) value(x float64) float64 {
	if f.degree == 1 {
		return x
	}
	y := x / f.interval
	if math.Abs(y) <= 1 {
		return math.Cos(float64(f.degree) * math.Acos(y))
	}
	return math.Copysign(math.Cosh(float64(f.degree)*math.Acosh(math.Abs(y))), y)
}

// least returns the least magnitude that an |eigenvalue| of floor or more can
// become, or 0 if there is none to speak of.
func (f filter) least(floor float64) float64 {
	if f.degree > 1 && floor <= f.interval {
		return 0
	}
	return math.Abs(f.value(floor))
}

// origin returns the magnitude of the eigenvalue of A that became x, at least
// the interval.
func (f filter) origin(x float64) float64 {
	if f.degree == 1 {
		return math.Abs(x)
	}
	return f.interval * math.Cosh(math.Acosh(max(1, math.Abs(x)))/float64(f.degree))
}

// sharpen chooses the filter by what the basis says of the spectrum: it lets
// through what the basis would keep at a restart. If that has at least twice
// the degree of the filter in use it is put on, a basis is started from the sum
// of the vectors kept, and sharpen returns true.
func (k *krylov) sharpen(r *ritz, want int) bool {
	edge := min(want+len(r.values)/4, len(r.values)-1)
	largest, interval := k.filter.origin(r.values[0]), k.filter.origin(r.values[edge])
	if len(k.locked) > 0 {
		largest = max(largest, math.Abs(k.locked[0].value))
	}
	if !(interval > 0 && interval < largest) {
		return false
	}
	degree := maxFilterDegree
	if spread := math.Acosh(largest / interval); spread > filterGain/maxFilterDegree {
		degree = int(filterGain/spread) | 1
	}
	if degree < 2*k.filter.degree {
		return false
	}
	start := make([]float64, len(k.graph.nodes))
	for i := range edge {
		floats.Add(start, k.combine(r.vectors, i))
	}
	floats.Scale(1/floats.Norm(start, 2), start)
	copy(k.at(0), start)
	clear(k.matrix)
	k.filter = filter{degree: degree, interval: interval}
	return true
}

// pairs forms the leading eigenpairs of A, with their true residuals if the
// operator is another.
func (k *krylov) pairs(r *ritz, take int) []eigenpair {
	out := make([]eigenpair, 0, take)
	for i, value := range r.values[:take] {
		v := k.combine(r.vectors, i)
		floats.Scale(1/floats.Norm(v, 2), v)
		p := eigenpair{value: value, residual: r.residual(i), nodes: k.graph.nodes, vector: v}
		if k.filter.degree > 1 {
			w := make([]float64, len(v))
			k.graph.multiply(w, v)
			p.value = floats.Dot(v, w)
			floats.AddScaled(w, -p.value, v)
			p.residual = floats.Norm(w, 2)
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, byMagnitude)
	return out
}
