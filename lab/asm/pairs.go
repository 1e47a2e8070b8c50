package main

import (
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pairs describes the scores of GATv2 for pairs of rows, and their gradients.
func pairs(a *assembler) {
	positions := headPositions(a)
	pairScores(a, positions)
	pairScoresGrad(a, positions)
}

// ofPairs begins a function over pairs: BX is the call, R8 bytes lead from row to
// row, R9 is the next one, R10 its scores, R11 bytes lead to the next, R12 is how
// many are left.
func ofPairs(a *assembler, name, scores string, positions operand.Mem) gotypes.Component {
	a.function(name)
	p := a.pointed("p", RBX)
	a.args(argument{scores, R10})
	a.Load(p.Field("Heads"), RAX)
	headsOf(a, positions)
	a.four(RAX, R11)
	a.Load(p.Field("Left").Field("Cols"), R8)
	a.SHLQ(operand.U8(2), R8)
	a.Load(p.Field("Rows").Base(), R9)
	a.Load(p.Field("Rows").Len(), R12)
	a.VBROADCASTSS(address(p.Field("Slope")), Z5)
	a.zero(Z4)
	return p
}

// leakySum stores LeakyReLU(left + right) in Z1 and masks by K2 where the sum is
// not above 0; Z3 is the vector.
func leakySum(a *assembler) {
	a.VMOVUPS_Z(at(RSI, 0), K1, Z1)
	a.VMOVUPS_Z(at(RDX, 0), K1, Z2)
	a.VMOVUPS_Z(at(RDI, 0), K1, Z3)
	a.VADDPS(Z2, Z1, Z1)
	a.VCMPPS(operand.U8(notAbove), Z4, Z1, K2)
	a.VMULPS(Z5, Z1, K2, Z1)
}

// values is where a matrix has its values.
func values(p gotypes.Component, matrix string) operand.Mem {
	return address(p.Field(matrix).Field("Data").Base())
}

func pairScores(a *assembler, positions operand.Mem) {
	p := ofPairs(a, "pairScoresAVX512", "scores", positions)
	a.Label("row")
	a.MOVL(at(R9, 0), ESI)
	a.IMULQ(R8, RSI)
	a.ADDQ(values(p, "Left"), RSI)
	a.fields(p, argument{"Right", RDX}, argument{"Vector", RDI})
	a.Load(p.Field("Vector").Len(), RCX)
	a.zero(Z0)
	a.whole()
	a.loop("columns", group, func() {
		leakySum(a)
		a.VMULPS(Z3, Z1, Z1)
		a.VADDPS(Z1, Z0, Z0)
	}, RSI, RDX, RDI)
	fold(a, a.VADDPS, Z0, "folded")
	nextScore(a)
	a.ret()
}

func pairScoresGrad(a *assembler, positions operand.Mem) {
	p := ofPairs(a, "pairScoresGradAVX512", "grad", positions)
	a.Label("row")
	perHead(a, at(R10, 0), Z6)
	a.MOVL(at(R9, 0), ESI)
	a.IMULQ(R8, RSI)
	a.MOVQ(RSI, R13)
	a.ADDQ(values(p, "Left"), RSI)
	a.ADDQ(values(p, "GradLeft"), R13)
	a.fields(p, argument{"Right", RDX}, argument{"GradRight", R14}, argument{"Vector", RDI}, argument{"GradVector", RAX})
	a.Load(p.Field("Vector").Len(), RCX)
	a.whole()
	a.loop("columns", group, func() {
		leakySum(a)
		a.VMULPS(Z1, Z6, Z1)
		a.VMOVUPS_Z(at(RAX, 0), K1, Z7)
		a.VADDPS(Z1, Z7, Z7)
		a.VMOVUPS(Z7, K1, at(RAX, 0))
		a.VMOVAPS(Z6, Z2)
		a.VMULPS(Z5, Z6, K2, Z2)
		a.VMULPS(Z3, Z2, Z2)
		a.VMOVUPS_Z(at(R13, 0), K1, Z7)
		a.VMOVUPS_Z(at(R14, 0), K1, Z8)
		a.VADDPS(Z2, Z7, Z7)
		a.VADDPS(Z2, Z8, Z8)
		a.VMOVUPS(Z7, K1, at(R13, 0))
		a.VMOVUPS(Z8, K1, at(R14, 0))
	}, RSI, RDX, RDI, RAX, R13, R14)
	a.add(4, R9)
	a.ADDQ(R11, R10)
	a.DECQ(R12)
	a.JNZ(to("row"))
	a.ret()
}
