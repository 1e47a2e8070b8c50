package trainer

// portableKernels is plain Go and gives the same bits on every architecture:
// no product is fused with a sum.
type portableKernels struct{}

// Name implements Kernels.
func (portableKernels) Name() string { return PortableKernels }

// MulNN implements Kernels, summing over k in ascending order.
func (portableKernels) MulNN(dst, a, b Matrix, _ *Scratch) {
	clear(dst.Data)
	for i := range a.Rows {
		out := dst.row(i)
		for k, alpha := range a.row(i) {
			axpy(out, b.row(k), alpha)
		}
	}
}

// MulNT implements Kernels through a transposed copy of b, which lets the
// inner loop run along rows.
func (p portableKernels) MulNT(dst, a, b Matrix, s *Scratch) {
	p.MulNN(dst, a, transpose(room(&s.right, len(b.Data)), b), s)
}

// MulTN implements Kernels, summing over k in ascending order.
func (portableKernels) MulTN(dst, a, b Matrix, _ *Scratch) {
	clear(dst.Data)
	for k := range a.Rows {
		from := b.row(k)
		for i, alpha := range a.row(k) {
			axpy(dst.row(i), from, alpha)
		}
	}
}

// Add implements Kernels.
func (portableKernels) Add(dst, x []float32) {
	for i, v := range x {
		dst[i] += v
	}
}

// Scale implements Kernels.
func (portableKernels) Scale(dst, x []float32, alpha float32) {
	for i, v := range x {
		dst[i] = alpha * v
	}
}

// axpy adds alpha·x to dst.
func axpy(dst, x []float32, alpha float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += float32(alpha * v)
	}
}
