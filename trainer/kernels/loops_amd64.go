package kernels

import "golang.org/x/sys/cpu"

// bestLoops returns the fastest loops of this processor.
func bestLoops() loops {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
		return avx512Loops{}
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasPOPCNT:
		return avx2Loops{}
	}
	return plainLoops{}
}

// avx2Loops use AVX2 for products and leave the rest to the compiler.
type avx2Loops struct{ plain }

func (avx2Loops) detail() string { return "AVX2" }

func (avx2Loops) size() tileSize { return tileSize{height: 6, step: 6, width: 16} }

func (avx2Loops) tile(t *tile) { tileAVX2(t) }

func (avx2Loops) gather(p *packing) { gatherPlain(p) }

func (avx2Loops) transpose(p *packing) { transposePlain(p) }

// Axpy implements Products.
func (avx2Loops) Axpy(dst, x []float32, alpha float32) {
	if len(x) > 0 {
		dst = dst[:len(x)]
		axpyAVX2(&dst[0], &x[0], len(x), alpha)
	}
}

//go:noescape
func tileAVX2(t *tile)

//go:noescape
func axpyAVX2(dst, x *float32, n int, alpha float32)
