package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tile describes the AVX-512 tile: up to 12 rows by 32 columns of the result stay
// in the registers Z0 to Z23 (two per row) while k runs. A step of k loads 32
// columns of the panel of b (Z24, Z25), broadcasts one value of a per row (Z26 to
// Z31 in turn) and does two fused multiply-adds per row: 24 of them for 14 loads,
// which keeps both multiply units busy. Every element is one chain of fused steps in
// ascending k, so its bits do not depend on the tile that it lies in.
//
//	AX  panel of a, k × height     BX  panel of b, k × 32
//	R12 bytes between steps of a   R11 bytes between steps of b
//	CX  first row of the result    DX  bytes between its rows
//	SI  steps of k left            DI  rows to load or store
//	K1, K2  columns in use of the left and of the right half
func tile(a *assembler) {
	a.function("tileAVX512")
	t := a.pointed("t", R8)
	a.fields(t, argument{"a", RAX}, argument{"b", RBX}, argument{"c", RCX}, argument{"k", RSI},
		argument{"bStep", R11}, argument{"aStep", R12}, argument{"stride", RDX}, argument{"rows", RDI}, argument{"mask", R9})
	a.KMOVW(R9L, K1)
	a.SHRQ(operand.U8(16), R9)
	a.KMOVW(R9L, K2)
	z := vectors()
	a.zero(z[:24]...)
	a.Load(t.Field("add"), R10)
	a.TESTQ(R10, R10)
	a.JZ(to("start"))
	tileRows("start", func(row int) {
		a.VMOVUPS_Z(at(RCX, 0), K1, z[2*row])
		a.VMOVUPS_Z(at(RCX, 64), K2, z[2*row+1])
	}, a)

	a.Label("start")
	a.fields(t, argument{"c", RCX}, argument{"rows", RDI}, argument{"height", R10})
	a.KTESTW(K2, K2)
	a.JZ(to("half"))
	tileSteps(a, "", func(row int) {
		// Z26 to Z31 hold the rows' values in turn.
		alpha := z[26+row%6]
		a.VBROADCASTSS(at(RAX, 4*row), alpha)
		a.VFMADD231PS(Z24, alpha, z[2*row])
		a.VFMADD231PS(Z25, alpha, z[2*row+1])
	})
	a.Label("half")
	tileSteps(a, "Half", func(row int) {
		a.VFMADD231PS_BCST(at(RAX, 4*row), Z24, z[2*row])
	})

	a.Label("store")
	tileRows("done", func(row int) {
		a.VMOVUPS(z[2*row], K1, at(RCX, 0))
		a.VMOVUPS(z[2*row+1], K2, at(RCX, 64))
	}, a)
	a.Label("done")
	a.ret()
}

// tileHeight is the rows of a whole tile; a lower one has 8 or 4.
const tileHeight = 12

// tileRows moves the rows of the result and leaves at done after the last.
func tileRows(done string, move func(row int), a *assembler) {
	for row := range tileHeight {
		move(row)
		a.ADDQ(RDX, RCX)
		a.DECQ(RDI)
		a.JZ(to(done))
	}
}

// tileSteps runs k for tiles of R10 rows, with both halves or the left one alone.
func tileSteps(a *assembler, half string, row func(row int)) {
	label := func(height int) operand.LabelRef { return to(fmt.Sprintf("rows%d%s", height, half)) }
	a.CMPQ(R10, imm(8))
	a.JEQ(label(8))
	a.JLT(label(4))
	for _, height := range []int{tileHeight, 8, 4} {
		a.Label(string(label(height)))
		a.VMOVUPS_Z(at(RBX, 0), K1, Z24)
		if half == "" {
			a.VMOVUPS_Z(at(RBX, 64), K2, Z25)
		}
		for i := range height {
			row(i)
		}
		a.ADDQ(R12, RAX)
		a.ADDQ(R11, RBX)
		a.DECQ(RSI)
		a.JNZ(label(height))
		if half == "" || height > 4 {
			a.JMP(to("store"))
		}
	}
}
