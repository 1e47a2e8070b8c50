package kernels

// Portable is plain Go and gives the same bits on every architecture:
// no product is fused with a sum.
type Portable struct{ plain }

// Name implements Set.
func (Portable) Name() string { return PortableName }

// MulNN implements Products, summing over k in ascending order.
func (p Portable) MulNN(dst, a, b Matrix, _ *Scratch) {
	clear(dst.Data)
	for i := range a.Rows {
		out := dst.Row(i)
		for k, alpha := range a.Row(i) {
			p.Axpy(out, b.Row(k), alpha)
		}
	}
}

// MulNT implements Products through a transposed copy of b, which lets the
// inner loop run along rows.
func (p Portable) MulNT(dst, a, b Matrix, s *Scratch) {
	p.MulNN(dst, a, transpose(room(&s.right, len(b.Data)), b), s)
}

// MulTN implements Products, summing over k in ascending order.
func (p Portable) MulTN(dst, a, b Matrix, _ *Scratch) {
	clear(dst.Data)
	for k := range a.Rows {
		from := b.Row(k)
		for i, alpha := range a.Row(k) {
			p.Axpy(dst.Row(i), from, alpha)
		}
	}
}

// Axpy implements Products.
func (Portable) Axpy(dst, x []float32, alpha float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += float32(alpha * v)
	}
}
