package main

import (
	"math"

	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tileAVX2 describes the loops for AVX2.
func tileAVX2(a *assembler) {
	// Eight lanes of ones and eight of zeros: read 4·(8−n) bytes in, they mask n
	// columns.
	columns := a.data("columnMask")
	for i := range 8 {
		ones := uint64(math.MaxUint64)
		if i >= 4 {
			ones = 0
		}
		a.AppendDatum(operand.U64(ones))
	}
	smallTile(a, columns)
	axpy(a)
}

// smallTile is built as the AVX-512 tile is: 6 rows by 16 columns in Y0 to Y11,
// columns of b in Y12 and Y13, values of a in Y14 and Y15.
func smallTile(a *assembler, columns operand.Mem) {
	const height = 6
	y := []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11}
	rows := func(done string, move func(left, right VecPhysical)) {
		for row := range height {
			move(y[2*row], y[2*row+1])
			a.ADDQ(RDX, RCX)
			a.DECQ(RDI)
			a.JZ(to(done))
		}
	}
	a.function("tileAVX2")
	t := a.pointed("t", R8)
	a.fields(t, argument{"a", RAX}, argument{"b", RBX}, argument{"c", RCX},
		argument{"stride", RDX}, argument{"rows", RDI}, argument{"mask", R9})
	for _, sum := range y {
		a.VXORPS(sum, sum, sum)
	}
	a.Load(t.Field("add"), R10)
	a.TESTQ(R10, R10)
	a.JZ(to("start"))
	columnMasks(a, columns)
	rows("start", func(left, right VecPhysical) {
		a.VMASKMOVPS(at(RCX, 0), Y12, left)
		a.VMASKMOVPS(at(RCX, 32), Y13, right)
	})

	a.Label("start")
	smallSteps(a, t, y)
	a.fields(t, argument{"c", RCX}, argument{"stride", RDX}, argument{"rows", RDI})
	// Some processors take ten times as long to store under a mask.
	a.CMPQ(R9, operand.U32(0xffff))
	a.JNE(to("masked"))
	rows("done", func(left, right VecPhysical) {
		a.VMOVUPS(left, at(RCX, 0))
		a.VMOVUPS(right, at(RCX, 32))
	})
	a.JMP(to("done"))
	a.Label("masked")
	columnMasks(a, columns)
	rows("done", func(left, right VecPhysical) {
		a.VMASKMOVPS(left, Y12, at(RCX, 0))
		a.VMASKMOVPS(right, Y13, at(RCX, 32))
	})
	a.Label("done")
	a.ret()
}

// smallSteps runs k. The rows of a may stand in a panel or where they are: each has a
// pointer, and one index runs for all, so that a step takes no instruction more.
//
//	AX, CX, DX, DI, R10, R12  ends of the rows of a
//	SI  minus the bytes up to there    R11  bytes between steps of a
//	BX  panel of b, k × 16             R13  bytes between rows of a
func smallSteps(a *assembler, t gotypes.Component, y []VecPhysical) {
	a.fields(t, argument{"k", RSI}, argument{"aStep", R11}, argument{"aRow", R13})
	a.IMULQ(R11, RSI)
	a.ADDQ(RSI, RAX)
	pointers := []GPPhysical{RAX, RCX, RDX, RDI, R10, R12}
	for row := 1; row < len(pointers); row++ {
		a.LEAQ(at(pointers[row-1], 0).Idx(R13, 1), pointers[row])
	}
	a.NEGQ(RSI)
	a.align()
	a.Label("step")
	a.VMOVUPS(at(RBX, 0), Y12)
	a.VMOVUPS(at(RBX, 32), Y13)
	for row, values := range pointers {
		alpha := []VecPhysical{Y14, Y15}[row%2]
		a.VBROADCASTSS(at(values, 0).Idx(RSI, 1), alpha)
		a.VFMADD231PS(Y12, alpha, y[2*row])
		a.VFMADD231PS(Y13, alpha, y[2*row+1])
	}
	a.add(64, RBX)
	a.ADDQ(R11, RSI)
	a.JNZ(to("step"))
}

// columnMasks sets Y12 and Y13 to the columns in use of the left and the right
// half.
func columnMasks(a *assembler, columns operand.Mem) {
	half := func(narrow func(), y VecPhysical) {
		a.MOVQ(R9, R10)
		narrow()
		a.POPCNTQ(R10, R10)
		a.SHLQ(operand.U8(2), R10)
		a.NEGQ(R10)
		a.VMOVUPS(at(R11, 0).Idx(R10, 1), y)
	}
	a.LEAQ(columns.Offset(32), R11)
	half(func() { a.ANDQ(imm(0xff), R10) }, Y12)
	half(func() { a.SHRQ(operand.U8(8), R10) }, Y13)
}

func axpy(a *assembler) {
	a.function("axpyAVX2")
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"n", RCX})
	a.VBROADCASTSS(address(a.Param("alpha")), Y2)
	a.SUBQ(imm(8), RCX)
	a.JLT(to("rest"))
	a.Label("group")
	a.VMOVUPS(at(RDI, 0), Y0)
	a.VFMADD231PS(at(RSI, 0), Y2, Y0)
	a.VMOVUPS(Y0, at(RDI, 0))
	a.add(32, RDI, RSI)
	a.SUBQ(imm(8), RCX)
	a.JGE(to("group"))
	a.Label("rest")
	a.add(8, RCX)
	a.JZ(to("done"))
	a.Label("one")
	a.VMOVSS(at(RDI, 0), X0)
	a.VFMADD231SS(at(RSI, 0), X2, X0)
	a.VMOVSS(X0, at(RDI, 0))
	a.add(4, RDI, RSI)
	a.DECQ(RCX)
	a.JNZ(to("one"))
	a.Label("done")
	a.ret()
}
