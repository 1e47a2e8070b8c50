package main

import . "github.com/mmcloughlin/avo/reg"

// permute describes the loops that permute columns.
func permute(a *assembler) {
	permuteAny(a)
	permuteNarrow(a)
}

func permuteAny(a *assembler) {
	a.function("permuteAVX512")
	call := a.pointed("c", RBX)
	a.fields(call, argument{"dst", R8}, argument{"src", RSI},
		argument{"dstStride", R10}, argument{"srcStride", R11}, argument{"rows", R12})
	a.Label("row")
	a.MOVQ(R8, RDI)
	a.fields(call, argument{"order", RDX}, argument{"columns", RCX})
	a.whole()
	a.loop("columns", group, func() {
		a.VMOVDQU32_Z(at(RDX, 0), K1, Z1)
		a.KMOVW(K1, K2)
		a.zero(Z0)
		a.VGATHERDPS(at(RSI, 0).Idx(Z1, 4), K2, Z0)
		a.VMOVUPS(Z0, K1, at(RDI, 0))
	}, RDI, RDX)
	a.ADDQ(R10, R8)
	a.ADDQ(R11, RSI)
	a.DECQ(R12)
	a.JNZ(to("row"))
	a.ret()
}

// permuteNarrow keeps a row in four registers, and the order of its columns in four
// more.
func permuteNarrow(a *assembler) {
	a.function("permuteNarrowAVX512")
	call := a.pointed("c", RBX)
	a.fields(call, argument{"dst", RDI}, argument{"src", RSI},
		argument{"dstStride", R10}, argument{"srcStride", R11}, argument{"rows", R12},
		argument{"order", RDX}, argument{"columns", R9})
	masks := []OpmaskPhysical{K1, K2, K3, K4}
	for i, k := range masks {
		if i > 0 {
			a.SUBQ(imm(group), R9)
		}
		a.mask(R9, k)
	}
	each(Z16, func(order VecPhysical, bytes int) { a.VMOVDQU32_Z(at(RDX, bytes), masks[bytes/64], order) })

	// Columns from 32 on lie in Z2 and Z3.
	a.spread(32, RAX, Z6)
	a.Label("row")
	each(Z0, func(values VecPhysical, bytes int) { a.VMOVUPS_Z(at(RSI, bytes), masks[bytes/64], values) })
	each(Z16, func(order VecPhysical, bytes int) {
		a.VMOVAPS(order, Z4)
		a.VPERMI2PS(Z1, Z0, Z4)
		a.VMOVAPS(order, Z5)
		a.VPERMI2PS(Z3, Z2, Z5)
		a.VPTESTMD(Z6, order, K5)
		a.VMOVAPS(Z5, K5, Z4)
		a.VMOVUPS(Z4, masks[bytes/64], at(RDI, bytes))
	})
	a.ADDQ(R10, RDI)
	a.ADDQ(R11, RSI)
	a.DECQ(R12)
	a.JNZ(to("row"))
	a.ret()
}
