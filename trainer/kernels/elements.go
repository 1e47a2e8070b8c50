package kernels

// Elements process vectors element by element. Every set computes the same bits. The length is
// that of dst for Multiply and of x for the others; other arguments must be at least as long.
type Elements interface {
	// Add adds x to dst.
	Add(dst, x []float32)
	// Scale stores alpha·x in dst, which may be x.
	Scale(dst, x []float32, alpha float32)
	// Multiply stores x·y in dst, which may be either.
	Multiply(dst, x, y []float32)
	// Dot returns Σ x·y in double precision: 16 sums over the positions modulo 16, which are then
	// added pairwise by halves.
	Dot(x, y []float32) float64
}

// plainElements are in plain Go, like every type whose name begins with plain: products are
// rounded before they are added, or exact in float64.
type plainElements struct{}

// Add implements Elements.
func (plainElements) Add(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += v
	}
}

// Scale implements Elements.
func (plainElements) Scale(dst, x []float32, alpha float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = alpha * v
	}
}

// Multiply implements Elements.
func (plainElements) Multiply(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

// Dot implements Elements.
func (plainElements) Dot(x, y []float32) float64 {
	var sums dotSums
	sums.add(x, y)
	return sums.total()
}

// dotSums are the sums of a dot product over the positions modulo 16.
type dotSums [16]float64

// add adds the products of values that start at a multiple of 16.
func (s *dotSums) add(x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		s[i%len(s)] += float64(float64(v) * float64(y[i]))
	}
}

// total adds the sums pairwise by halves.
func (s *dotSums) total() float64 {
	for half := len(s) / 2; half > 0; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}
