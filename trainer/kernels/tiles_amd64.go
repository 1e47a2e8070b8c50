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

// fusedAVX2 uses AVX2 for products and leaves the rest to the compiler.
func fusedAVX2() Set {
	s := fusedPlain()
	s.Detail, s.Products, s.Rows = "AVX2", fusedProducts{avx2Tiles{}}, avx2Rows{}
	return s
}

// fusedAVX512 uses AVX-512 throughout.
func fusedAVX512() Set {
	return Set{
		Name: FMAName, Detail: "AVX-512",
		Products: fusedProducts{avx512Tiles{}}, Rows: avx512Rows{},
		Elements: avx512Elements{}, Activations: avx512Activations{}, Heads: avx512Heads{},
		Columns: avx512Columns{}, Draws: avx512Draws{}, Optimiser: avx512Optimiser{},
	}
}

type avx2Tiles struct{}

func (avx2Tiles) size() tileSize { return tileSize{height: 6, step: 6, width: 16} }

func (avx2Tiles) tile(t *tile) { tileAVX2(t) }

func (avx2Tiles) gather(p *packing) { gatherPlain(p) }

func (avx2Tiles) transpose(p *packing) { transposePlain(p) }

type avx512Tiles struct{}

func (avx512Tiles) size() tileSize { return tileSize{height: 12, step: 4, width: 32, steps: true} }

func (avx512Tiles) tile(t *tile) { tileAVX512(t) }

func (avx512Tiles) gather(p *packing) { copyAVX512(p) }

func (avx512Tiles) transpose(p *packing) { transposeAVX512(p) }

//go:noescape
func tileAVX2(t *tile)

//go:noescape
func tileAVX512(t *tile)

//go:noescape
func copyAVX512(p *packing)

//go:noescape
func transposeAVX512(p *packing)
