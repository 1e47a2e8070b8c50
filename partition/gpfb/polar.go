package gpfb

import (
	"errors"
	"math"

	"lethe/partition/vectors"

	"gonum.org/v1/gonum/mat"
)

// errEigen marks an eigendecomposition that did not converge, which does not happen for finite
// input.
var errEigen = errors.New("eigendecomposition did not converge")

const (
	// wellConditioned is the ratio of the smallest to the largest eigenvalue of the Gram matrix
	// above which its inverse root is accurate enough: the columns of the factor are then
	// orthonormal to about 1e-10.
	wellConditioned = 1e-6
	// negligible is the share of the largest singular value below which a direction counts as
	// missing.
	negligible = 1e-12
)

// Polar computes polar factors of n × v matrices P = U Σ Vᵀ, n >= v: H = U Vᵀ,
// the matrix with orthonormal columns for which Tr(Hᵀ P) is greatest. The thin
// decomposition comes from the eigenvectors of the v × v Gram matrix PᵀP.
//
// Where P lacks rank the factor is not unique. The missing columns of U are then
// standard basis vectors, made orthogonal to the others: each time the one that
// keeps the most length, the lowest position among equals.
type Polar struct {
	n, v  int
	gram  *mat.SymDense
	eigen mat.EigenSym
	// Values are the squared singular values of the last matrix, ascending; vectors holds the
	// eigenvectors in its columns.
	Values  []float64
	vectors mat.Dense
	root    []float64 // v × v scratch
}

// NewPolar computes those of matrices of one shape.
func NewPolar(n, v int) *Polar {
	return &Polar{n: n, v: v, gram: mat.NewSymDense(v, nil), root: make([]float64, v*v)}
}

// Of writes the polar factor of p to h. Both are n × v, row-major, and must not
// overlap.
func (f *Polar) Of(h, p []float64) error {
	f.fillGram(p)
	if !f.eigen.Factorize(f.gram, true) {
		return errEigen
	}
	f.Values = f.eigen.Values(f.Values)
	f.eigen.VectorsTo(&f.vectors)
	if smallest, largest := f.Values[0], f.Values[f.v-1]; smallest > wellConditioned*largest {
		f.byInverseRoot(h, p)
	} else {
		f.byColumns(h, p)
	}
	return nil
}

// fillGram computes PᵀP, rows of P in their order.
func (f *Polar) fillGram(p []float64) {
	v := f.v
	sum := f.root
	clear(sum)
	i := 0
	for ; i+4 <= f.n; i += 4 {
		a, b, c, d := p[i*v:(i+1)*v], p[(i+1)*v:(i+2)*v], p[(i+2)*v:(i+3)*v], p[(i+3)*v:(i+4)*v]
		for j := range v {
			vectors.AddScaled4(sum[j*v+j:(j+1)*v], [4]float64{a[j], b[j], c[j], d[j]}, a[j:], b[j:], c[j:], d[j:])
		}
	}
	for ; i < f.n; i++ {
		row := p[i*v : (i+1)*v]
		for j, x := range row {
			vectors.AddScaled(sum[j*v+j:(j+1)*v], x, row[j:])
		}
	}
	for j := range v {
		for k := j; k < v; k++ {
			f.gram.SetSym(j, k, sum[j*v+k])
		}
	}
}

// byInverseRoot computes H = P (PᵀP)^-1/2.
func (f *Polar) byInverseRoot(h, p []float64) {
	v := f.v
	clear(f.root)
	for k, value := range f.Values {
		for i := range v {
			x := f.vectors.At(i, k) / math.Sqrt(value)
			for j := range v {
				f.root[i*v+j] += float64(x * f.vectors.At(j, k))
			}
		}
	}
	clear(h)
	for i := range f.n {
		vectors.MultiplyRow(h[i*v:(i+1)*v], p[i*v:(i+1)*v], f.root)
	}
}

// byColumns computes U column by column from P V, strongest direction first, and completes it
// where P has no further direction.
func (f *Polar) byColumns(h, p []float64) {
	largest := math.Sqrt(max(0, f.Values[f.v-1]))
	basis := make([][]float64, 0, f.v)
	clear(h)
	for k := f.v - 1; k >= 0; k-- {
		u := f.image(p, k)
		vectors.Orthogonalise(u, basis)
		if length := vectors.Norm(u); length > negligible*largest {
			vectors.Scale(u, 1/length)
		} else {
			u = vectors.Completion(f.n, basis)
		}
		basis = append(basis, u)
		for i, x := range u {
			for j := range f.v {
				h[i*f.v+j] += float64(x * f.vectors.At(j, k))
			}
		}
	}
}

// image returns P times eigenvector k.
func (f *Polar) image(p []float64, k int) []float64 {
	u := make([]float64, f.n)
	for i := range u {
		for j := range f.v {
			u[i] += float64(p[i*f.v+j] * f.vectors.At(j, k))
		}
	}
	return u
}
