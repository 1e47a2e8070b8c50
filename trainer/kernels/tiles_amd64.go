package kernels

import "golang.org/x/sys/cpu"

// fused returns the set of fused multiply-adds with the fastest loops of this
// processor, and whether any of them are in assembly.
func fused() (Set, bool) {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
		return fusedAVX512(), true
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasPOPCNT:
		return fusedAVX2(), true
	}
	return fusedPlain(), false
}

// fusedAVX2 uses AVX2 for the loops that dominate, and plain Go for the rest.
func fusedAVX2() Set {
	return Set{
		Name: FMAName, Detail: "AVX2",
		Products: fusedProducts{avx2Tiles{}}, Rows: avx2Rows{},
		Elements: avx2Elements{}, Activations: avx2Activations{},
		Columns: avx2Columns{}, Optimiser: avx2Optimiser{},
	}
}

// fusedAVX512 uses AVX-512 throughout.
func fusedAVX512() Set {
	return Set{
		Name: FMAName, Detail: "AVX-512",
		Products: fusedProducts{avx512Tiles{}}, Rows: avx512Rows{},
		Elements: avx512Elements{}, Activations: avx512Activations{},
		Columns: avx512Columns{}, Optimiser: avx512Optimiser{},
	}
}

type avx2Tiles struct{}

func (avx2Tiles) size() tileSize { return tileSize{height: 6, step: 6, width: 16, rows: true} }

func (avx2Tiles) tile(t *tile) { tileAVX2(t) }

func (avx2Tiles) gather(p *packing) {
	switch {
	case p.count > 0 && p.load == lowBits(6) && p.store == p.load:
		copySixAVX2(p)
	case p.count > 0 && p.load == lowBits(16):
		copySixteenAVX2(p)
	default:
		gatherPlain(p)
	}
}

// transpose leaves columns beyond a multiple of 8 to plain Go. It stores 8 values for every
// column, so it overwrites up to two rows after the last.
func (avx2Tiles) transpose(p *packing) {
	whole := wholeGroups(p.count)
	for i := 0; i < p.rows && whole > 0; i += 8 {
		transposeEightAVX2(&p.dst[i], &p.src[i*p.srcStride/4], whole, p.dstStride, p.srcStride, min(8, p.rows-i))
	}
	rest := *p
	rest.dst, rest.src, rest.count = p.dst[whole*p.dstStride/4:], p.src[min(whole, len(p.src)):], p.count-whole
	transposePlain(&rest)
}

type avx512Tiles struct{}

func (avx512Tiles) size() tileSize { return tileSize{height: 12, step: 4, width: 32, steps: true} }

func (avx512Tiles) tile(t *tile) { tileAVX512(t) }

func (avx512Tiles) gather(p *packing) { copyAVX512(p) }

func (avx512Tiles) transpose(p *packing) { transposeAVX512(p) }

//go:noescape
func tileAVX2(t *tile)

//go:noescape
func copySixAVX2(p *packing)

//go:noescape
func copySixteenAVX2(p *packing)

//go:noescape
func transposeEightAVX2(dst, src *float32, count, dstStride, srcStride, rows int)

//go:noescape
func tileAVX512(t *tile)

//go:noescape
func copyAVX512(p *packing)

//go:noescape
func transposeAVX512(p *packing)
