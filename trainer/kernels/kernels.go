package kernels

import (
	"fmt"

	"github.com/viterin/vek/vek32"
)

// Matrix is a dense row-major matrix: Data holds Rows*Cols values.
type Matrix struct {
	Rows, Cols int
	Data       []float32
}

// Row returns row i. It aliases the matrix.
func (m Matrix) Row(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// Scratch is working memory for kernels. Its content never reaches a result.
// One Scratch must not be used from two goroutines.
type Scratch struct{ left, right, out []float32 }

// Set is a set of float32 loops. Implementations run on the calling
// goroutine only and sum in an order that depends on nothing but the shapes.
// Two sets may differ in the last bits of products; each is deterministic. The
// destination of a product must not overlap its operands.
type Set interface {
	// Name identifies the arithmetic, for checkpoints and receipts.
	Name() string
	// MulNN stores a·b: a is m×k, b is k×n, dst is m×n.
	MulNN(dst, a, b Matrix, s *Scratch)
	// MulNT stores a·bᵀ: a is m×k, b is n×k, dst is m×n.
	MulNT(dst, a, b Matrix, s *Scratch)
	// MulTN stores aᵀ·b: a is k×m, b is k×n, dst is m×n.
	MulTN(dst, a, b Matrix, s *Scratch)
	// Add adds x to dst; both have one length.
	Add(dst, x []float32)
	// Scale stores alpha·x in dst; both have one length.
	Scale(dst, x []float32, alpha float32)
}

// The names of the kernel sets.
const (
	PortableName = "portable"
	VekName      = "vek-avx2"
)

// Default returns the fastest set that this processor can run.
func Default() Set {
	if vek32.Info().Acceleration {
		return Vek{}
	}
	return Portable{}
}

// Named returns the named set, or an error if there is no such set or
// this processor cannot run it.
func Named(name string) (Set, error) {
	switch {
	case name == PortableName:
		return Portable{}, nil
	case name == VekName && vek32.Info().Acceleration:
		return Vek{}, nil
	case name == VekName:
		return nil, fmt.Errorf("kernel set %q needs a processor with AVX2 and FMA", name)
	default:
		return nil, fmt.Errorf("kernel set %q is none of %q, %q", name, PortableName, VekName)
	}
}

// transpose stores the transpose of src in dst, which has room for it.
func transpose(dst []float32, src Matrix) Matrix {
	t := Matrix{Rows: src.Cols, Cols: src.Rows, Data: dst[:src.Rows*src.Cols]}
	for i := range src.Rows {
		for j, v := range src.Row(i) {
			t.Data[j*t.Cols+i] = v
		}
	}
	return t
}

// room returns buf with length n, reallocated if it is too small.
func room(buf *[]float32, n int) []float32 {
	if cap(*buf) < n {
		*buf = make([]float32, n)
	}
	return (*buf)[:n]
}
