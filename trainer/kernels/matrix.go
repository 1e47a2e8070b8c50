package kernels

// Matrix is a dense row-major matrix: Data holds Rows*Cols values.
type Matrix struct {
	Rows, Cols int
	Data       []float32
}

// Row returns row i. It aliases the matrix.
func (m Matrix) Row(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// Scratch is working memory for kernels. Its content never affects a result. It must not be used
// from two goroutines.
type Scratch struct {
	left, right []float32
	product     multiplication
}

// transpose stores the transpose of src in dst, which must be large enough. It works on square
// blocks, so that the cache lines of both stay cached.
func transpose(dst []float32, src Matrix) Matrix {
	const side = 16
	t := Matrix{Rows: src.Cols, Cols: src.Rows, Data: dst[:src.Rows*src.Cols]}
	for top := 0; top < src.Rows; top += side {
		for left := 0; left < src.Cols; left += side {
			for i := top; i < min(top+side, src.Rows); i++ {
				for j, v := range src.Row(i)[left:min(left+side, src.Cols)] {
					t.Data[(left+j)*t.Cols+i] = v
				}
			}
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
