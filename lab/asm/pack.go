package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pack describes the loops that fill the panels of a product.
func pack(a *assembler) {
	copyRows(a)
	transpose(a)
}

// maskPair loads a mask of 32 columns into two registers, by way of AX.
func maskPair(a *assembler, left, right OpmaskPhysical) {
	a.KMOVW(EAX, left)
	a.SHRQ(operand.U8(16), RAX)
	a.KMOVW(EAX, right)
}

// copyRows copies count rows, each to a number of panels of up to 32 columns: K1
// and K2 mask what is loaded, K3 and K4 what is stored; the difference is stored as
// zeros.
func copyRows(a *assembler) {
	a.function("copyAVX512")
	call := a.pointed("p", R8)
	a.fields(call, argument{"dst", RDI}, argument{"src", RSI}, argument{"count", RCX},
		argument{"dstStride", RDX}, argument{"srcStride", RBX}, argument{"panelStride", R13}, argument{"load", RAX})
	maskPair(a, K1, K2)
	a.Load(call.Field("store"), RAX)
	maskPair(a, K3, K4)

	a.Label("row")
	a.MOVQ(RSI, R9)
	a.MOVQ(RDI, R10)
	a.Load(call.Field("panels"), R11)
	a.Label("panel")
	a.VMOVUPS_Z(at(R9, 0), K1, Z0)
	a.VMOVUPS_Z(at(R9, 64), K2, Z1)
	a.VMOVUPS(Z0, K3, at(R10, 0))
	a.VMOVUPS(Z1, K4, at(R10, 64))
	a.ADDQ(RDX, R9)
	a.ADDQ(R13, R10)
	a.DECQ(R11)
	a.JNZ(to("panel"))
	a.ADDQ(RBX, RSI)
	a.ADDQ(RDX, RDI)
	a.DECQ(RCX)
	a.JNZ(to("row"))
	a.ret()
}

// transpose transposes rows (1 to 16) of count columns: column j becomes a row of
// dst. It stores whole groups of 16 columns, so up to 15 rows behind the last are
// overwritten.
func transpose(a *assembler) {
	a.function("transposeAVX512")
	call := a.pointed("p", R8)
	a.fields(call, argument{"dst", RDI}, argument{"src", RSI}, argument{"count", RCX},
		argument{"dstStride", RDX}, argument{"store", RAX})
	a.KMOVW(EAX, K3)
	a.four(RDX, R13)
	a.LEAQ(at(R13, 0).Idx(R13, 2), R14)
	a.XORQ(R12, R12)

	a.Label("group")
	a.MOVL(operand.U32(0xffff), EAX)
	a.CMPQ(RCX, imm(group))
	a.JGE(to("whole"))
	a.MOVL(operand.U32(1), EAX)
	a.SHLL(CL, EAX)
	a.DECL(EAX)
	a.Label("whole")
	a.KMOVW(EAX, K1)
	a.MOVQ(RSI, R9)
	a.fields(call, argument{"rows", R10}, argument{"srcStride", R11})
	z := vectors()
	for i := range group {
		// After the last row it stays there: what lies behind is never read.
		a.VMOVUPS_Z(at(R9, 0), K1, z[i])
		a.DECQ(R10)
		a.CMOVQEQ(R12, R11)
		a.ADDQ(R11, R9)
	}
	for i := 0; i < group; i += 4 {
		interleave(a, z[i:i+4], z[16+i:20+i])
	}
	for i := range 4 {
		joinLanes(a, z[i], z[4+i], z[8+i], z[12+i])
	}
	a.ADDQ(R14, RDI)
	a.add(64, RSI)
	a.SUBQ(imm(group), RCX)
	a.JG(to("group"))
	a.ret()
}

// interleave turns four rows into the four columns c, 4+c, 8+c, 12+c of each of
// which a 128-bit lane holds those rows' values. t is free.
func interleave(a *assembler, rows, t []VecPhysical) {
	a.VUNPCKLPS(rows[1], rows[0], t[0])
	a.VUNPCKHPS(rows[1], rows[0], t[1])
	a.VUNPCKLPS(rows[3], rows[2], t[2])
	a.VUNPCKHPS(rows[3], rows[2], t[3])
	a.VUNPCKLPD(t[2], t[0], rows[0])
	a.VUNPCKHPD(t[2], t[0], rows[1])
	a.VUNPCKLPD(t[3], t[1], rows[2])
	a.VUNPCKHPD(t[3], t[1], rows[3])
}

// joinLanes joins the lanes of column c, 4+c, 8+c and 12+c and stores them from DI
// on, where DX is a row's bytes, R13 four rows' and R14 twelve rows'.
func joinLanes(a *assembler, b, c, d, e VecPhysical) {
	even, odd := operand.U8(0x88), operand.U8(0xdd)
	a.VSHUFF32X4(even, c, b, Z16)
	a.VSHUFF32X4(even, e, d, Z17)
	a.VSHUFF32X4(odd, c, b, Z18)
	a.VSHUFF32X4(odd, e, d, Z19)
	a.VSHUFF32X4(even, Z17, Z16, Z20)
	a.VSHUFF32X4(even, Z19, Z18, Z21)
	a.VSHUFF32X4(odd, Z17, Z16, Z22)
	a.VSHUFF32X4(odd, Z19, Z18, Z23)
	a.VMOVUPS(Z20, K3, at(RDI, 0))
	a.VMOVUPS(Z21, K3, at(RDI, 0).Idx(R13, 1))
	a.VMOVUPS(Z22, K3, at(RDI, 0).Idx(R13, 2))
	a.VMOVUPS(Z23, K3, at(RDI, 0).Idx(R14, 1))
	a.ADDQ(RDX, RDI)
}
