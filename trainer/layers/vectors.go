package layers

// axpy adds alpha·x to dst. It is for the few channels of an attention head, for
// which a call of a kernel costs more than the sum.
func axpy(dst, x []float32, alpha float32) {
	dst = dst[:len(x)]
	for len(x) >= 4 && len(dst) >= 4 {
		dst[0] += float32(alpha * x[0])
		dst[1] += float32(alpha * x[1])
		dst[2] += float32(alpha * x[2])
		dst[3] += float32(alpha * x[3])
		dst, x = dst[4:], x[4:]
	}
	for i, v := range x {
		dst[i] += float32(alpha * v)
	}
}

// dot is Σ a∘b.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	sum := float32(0)
	for i, v := range a {
		sum += float32(v * b[i])
	}
	return sum
}
