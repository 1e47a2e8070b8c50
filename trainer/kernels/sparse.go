package kernels

// Sparse is a matrix in compressed sparse rows: row i has Values[e] in column
// Columns[e] for e from Starts[i] to Starts[i+1], columns ascending. Values may
// be nil, which stands for ones.
type Sparse struct {
	Rows, Cols int
	Starts     []int
	Columns    []uint32
	Values     []float32
}

// NewSparse returns the values of a dense matrix that are not 0.
func NewSparse(m Matrix) Sparse {
	s := Sparse{Rows: m.Rows, Cols: m.Cols, Starts: make([]int, 1, m.Rows+1)}
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			if v != 0 {
				s.Columns, s.Values = append(s.Columns, uint32(j)), append(s.Values, v)
			}
		}
		s.Starts = append(s.Starts, len(s.Columns))
	}
	return s
}

// MulSparse stores s·b in dst: s is m×k, b is k×n, dst is m×n and does not
// overlap b. It sums over k in ascending order.
func MulSparse(k Products, dst Matrix, s Sparse, b Matrix) {
	clear(dst.Data)
	for i := range s.Rows {
		out := dst.Row(i)
		for e := s.Starts[i]; e < s.Starts[i+1]; e++ {
			k.Axpy(out, b.Row(int(s.Columns[e])), s.value(e))
		}
	}
}

// MulSparseTransposed stores sᵀ·b in dst: s is k×m, b is k×n, dst is m×n and
// does not overlap b. It sums over k in ascending order.
func MulSparseTransposed(k Products, dst Matrix, s Sparse, b Matrix) {
	clear(dst.Data)
	for i := range s.Rows {
		from := b.Row(i)
		for e := s.Starts[i]; e < s.Starts[i+1]; e++ {
			k.Axpy(dst.Row(int(s.Columns[e])), from, s.value(e))
		}
	}
}

// MulSparseNT stores s·bᵀ in dst: s is m×k, b is n×k, dst is m×n. This is a
// linear layer of weights b with sparse inputs.
func MulSparseNT(k Products, dst Matrix, s Sparse, b Matrix, scratch *Scratch) {
	MulSparse(k, dst, s, transpose(room(&scratch.right, len(b.Data)), b))
}

// MulSparseTN stores bᵀ·s in dst: b is k×m, s is k×n, dst is m×n. This is the
// gradient for the weights of a linear layer with sparse inputs s, from the
// gradient b of its results.
func MulSparseTN(k Products, dst, b Matrix, s Sparse, scratch *Scratch) {
	turned := Matrix{Rows: dst.Cols, Cols: dst.Rows, Data: room(&scratch.right, len(dst.Data))}
	MulSparseTransposed(k, turned, s, b)
	transpose(dst.Data, turned)
}

func (s Sparse) value(e int) float32 {
	if s.Values == nil {
		return 1
	}
	return s.Values[e]
}
