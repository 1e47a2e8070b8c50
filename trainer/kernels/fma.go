package kernels

// FMA is the set of fused multiply-adds: every element of a product is one chain
// x·y + z, rounded once per step, over ascending k. That says what every bit is,
// so the loops for AVX-512, for AVX2 and in plain Go compute the same bytes, and
// a checkpoint can be checked on a processor of another kind.
//
// The zero value has no loops; Named and Default return usable ones.
type FMA struct{ loops }

// Name implements Set.
func (FMA) Name() string { return FMAName }

// Detail names the instructions in use. They reach no bit of a result.
func (f FMA) Detail() string { return f.detail() }

// MulNN implements Products.
func (f FMA) MulNN(dst, a, b Matrix, s *Scratch) {
	s.multiply(f.loops, dst, operand{Matrix: a}, operand{Matrix: b}, a.Cols)
}

// MulNT implements Products.
func (f FMA) MulNT(dst, a, b Matrix, s *Scratch) {
	s.multiply(f.loops, dst, operand{Matrix: a}, operand{Matrix: b, turned: true}, a.Cols)
}

// MulTN implements Products.
func (f FMA) MulTN(dst, a, b Matrix, s *Scratch) {
	s.multiply(f.loops, dst, operand{Matrix: a, turned: true}, operand{Matrix: b}, a.Rows)
}
