package main

import (
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rows describes the loops over rows of matrices.
func rows(a *assembler) {
	sumRows(a)
	addRows(a)
}

// listOfRows begins a list: R9 is its next row, R10 that one's weight, R12 how many
// are left.
func listOfRows(a *assembler, call gotypes.Component) {
	a.MOVQ(at(RBX, 0), RDX)
	a.MOVQ(at(RBX, 8), R12)
	a.SUBQ(RDX, R12)
	a.Load(call.Field("rows"), R9)
	a.LEAQ(at(R9, 0).Idx(RDX, 4), R9)
	a.Load(call.Field("weights"), R10)
	a.IMULQ(R11, RDX)
	a.ADDQ(RDX, R10)
}

// nextRow takes the offset of a row into DX and its weight into Z4.
func nextRow(a *assembler) {
	a.MOVL(at(R9, 0), EDX)
	a.IMULQ(R8, RDX)
	a.VBROADCASTSS(at(R10, 0), Z4)
	a.add(4, R9)
	a.ADDQ(R11, R10)
}

// sumRows keeps 64 columns at a time in registers while the rows of a list pass by.
func sumRows(a *assembler) {
	a.function("sumRowsAVX512")
	call := a.pointed("c", RAX)
	a.fields(call, argument{"stride", R8}, argument{"step", R11}, argument{"starts", RBX})
	a.Label("list")
	a.fields(call, argument{"dst", RDI}, argument{"x", RSI}, argument{"values", R13})
	a.whole()
	sumWideRows(a, call)

	a.Label("narrow")
	a.CMPQ(R13, imm(group))
	a.JGE(to("full"))
	a.TESTQ(R13, R13)
	a.JLE(to("next"))
	a.MOVQ(R13, RCX)
	a.tail()
	a.Label("full")
	a.zero(Z0)
	listOfRows(a, call)
	a.TESTQ(R12, R12)
	a.JZ(to("storePart"))
	a.Label("part")
	nextRow(a)
	a.VMOVUPS_Z(at(RSI, 0).Idx(RDX, 1), K1, Z5)
	a.VFMADD231PS(Z5, Z4, Z0)
	a.DECQ(R12)
	a.JNZ(to("part"))
	a.Label("storePart")
	a.VMOVUPS(Z0, K1, at(RDI, 0))
	a.add(64, RDI, RSI)
	a.SUBQ(imm(group), R13)
	a.JMP(to("narrow"))

	a.Label("next")
	a.Load(call.Field("dstStride"), RDX)
	a.ADDQ(RDX, address(call.Field("dst")))
	a.add(8, RBX)
	a.DECQ(address(call.Field("lists")))
	a.JNZ(to("list"))
	a.ret()
}

func sumWideRows(a *assembler, call gotypes.Component) {
	a.Label("wide")
	a.CMPQ(R13, imm(64))
	a.JLT(to("narrow"))
	a.zero(Z0, Z1, Z2, Z3)
	listOfRows(a, call)
	a.TESTQ(R12, R12)
	a.JZ(to("store"))
	a.Label("row")
	nextRow(a)
	each(Z0, func(sum VecPhysical, bytes int) { a.VFMADD231PS(at(RSI, bytes).Idx(RDX, 1), Z4, sum) })
	a.DECQ(R12)
	a.JNZ(to("row"))
	a.Label("store")
	each(Z0, func(sum VecPhysical, bytes int) { a.VMOVUPS(sum, at(RDI, bytes)) })
	a.add(256, RDI, RSI)
	a.SUBQ(imm(64), R13)
	a.JMP(to("wide"))
}

// addRows adds pairs of rows.
func addRows(a *assembler) {
	a.function("addRowsAVX512")
	call := a.pointed("c", RAX)
	a.fields(call, argument{"dst", RDI}, argument{"x", RSI}, argument{"y", RDX},
		argument{"dstStride", R8}, argument{"xStride", R9}, argument{"yStride", R10},
		argument{"rows", R11}, argument{"values", R12})
	a.MOVQ(R12, RCX)
	a.ANDQ(imm(group-1), RCX)
	a.SUBQ(RCX, R12)
	a.SHLQ(operand.U8(2), R12)
	a.tail()

	a.Label("row")
	a.XORQ(RBX, RBX)
	a.JMP(to("test"))
	a.Label("group")
	a.VMOVUPS(at(RSI, 0).Idx(RBX, 1), Z0)
	a.VADDPS(at(RDX, 0).Idx(RBX, 1), Z0, Z0)
	a.VMOVUPS(Z0, at(RDI, 0).Idx(RBX, 1))
	a.add(64, RBX)
	a.Label("test")
	a.CMPQ(RBX, R12)
	a.JLT(to("group"))
	a.TESTQ(RCX, RCX)
	a.JZ(to("next"))
	a.VMOVUPS_Z(at(RSI, 0).Idx(RBX, 1), K1, Z0)
	a.VMOVUPS_Z(at(RDX, 0).Idx(RBX, 1), K1, Z1)
	a.VADDPS(Z1, Z0, Z0)
	a.VMOVUPS(Z0, K1, at(RDI, 0).Idx(RBX, 1))
	a.Label("next")
	a.ADDQ(R8, RDI)
	a.ADDQ(R9, RSI)
	a.ADDQ(R10, RDX)
	a.DECQ(R11)
	a.JNZ(to("row"))
	a.ret()
}
