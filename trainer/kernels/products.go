package kernels

// Products are dense matrix products. The sets differ in them. The destination must not overlap
// an operand.
type Products interface {
	// MulNN stores a·b: a is m×k, b is k×n, dst is m×n.
	MulNN(dst, a, b Matrix, s *Scratch)
	// MulNT stores a·bᵀ: a is m×k, b is n×k, dst is m×n.
	MulNT(dst, a, b Matrix, s *Scratch)
	// MulTN stores aᵀ·b: a is k×m, b is k×n, dst is m×n.
	MulTN(dst, a, b Matrix, s *Scratch)
}

// fusedProducts compute products by tiles: every element is one chain of x·y + z, rounded once
// per step, over ascending k.
type fusedProducts struct{ tiles }

// MulNN implements Products.
func (f fusedProducts) MulNN(dst, a, b Matrix, s *Scratch) {
	s.multiply(f.tiles, dst, operand{Matrix: a}, operand{Matrix: b}, a.Cols)
}

// MulNT implements Products.
func (f fusedProducts) MulNT(dst, a, b Matrix, s *Scratch) {
	s.multiply(f.tiles, dst, operand{Matrix: a}, operand{Matrix: b, turned: true}, a.Cols)
}

// MulTN implements Products.
func (f fusedProducts) MulTN(dst, a, b Matrix, s *Scratch) {
	s.multiply(f.tiles, dst, operand{Matrix: a, turned: true}, operand{Matrix: b}, a.Rows)
}

// portableProducts fuse no product with a sum.
type portableProducts struct{}

// MulNN implements Products, summing over k in ascending order.
func (portableProducts) MulNN(dst, a, b Matrix, _ *Scratch) {
	clear(dst.Data)
	for i := range a.Rows {
		out := dst.Row(i)
		for k, alpha := range a.Row(i) {
			portableRows{}.Axpy(out, b.Row(k), alpha)
		}
	}
}

// MulNT implements Products through a transposed copy of b, which lets the
// inner loop run along rows.
func (p portableProducts) MulNT(dst, a, b Matrix, s *Scratch) {
	p.MulNN(dst, a, transpose(room(&s.right, len(b.Data)), b), s)
}

// MulTN implements Products, summing over k in ascending order.
func (portableProducts) MulTN(dst, a, b Matrix, _ *Scratch) {
	clear(dst.Data)
	for k := range a.Rows {
		from := b.Row(k)
		for i, alpha := range a.Row(k) {
			portableRows{}.Axpy(dst.Row(i), from, alpha)
		}
	}
}
