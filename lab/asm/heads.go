package main

import (
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// heads describes the loops over rows of values that belong to heads. AX is the
// number of heads, a power of two; position p of 16 belongs to head p mod heads.
func heads(a *assembler) {
	positions := headPositions(a)
	sumHeadRows(a, positions)
	addHeadRows(a, positions)
	dotHeadRows(a, positions)
}

// headPositions adds the numbers 0 to 15 to the file.
func headPositions(a *assembler) operand.Mem {
	m := a.data("positions")
	for i := range uint32(group) {
		a.AppendDatum(operand.U32(i))
	}
	return m
}

// headsOf sets K3 to the heads and Z15 to the head of every position. It takes CX.
func headsOf(a *assembler, positions operand.Mem) {
	a.MOVQ(RAX, RCX)
	a.MOVL(operand.U32(1), R15L)
	a.SHLL(CL, R15L)
	a.DECL(R15L)
	a.KMOVW(R15L, K3)
	a.LEAQ(at(RAX, -1), R15)
	a.VPBROADCASTD(R15L, Z15)
	a.VPANDD(positions, Z15, Z15)
}

// perHead loads a value per head and gives every position that of its head.
func perHead(a *assembler, from operand.Mem, z VecPhysical) {
	a.VMOVUPS_Z(from, K3, z)
	a.VPERMPS(z, Z15, z)
}

// fold adds halves to halves, or takes the larger ones, until a value per head is
// left, in all positions of the head. It takes Z14.
func fold(a *assembler, op func(ops ...operand.Op), z VecPhysical, done string) {
	half := func(heads int, shuffle func()) {
		a.CMPQ(RAX, imm(heads))
		a.JGE(to(done))
		shuffle()
		op(z, Z14, z)
	}
	half(16, func() { a.VSHUFF64X2(operand.U8(0x4e), z, z, Z14) })
	half(8, func() { a.VSHUFF64X2(operand.U8(0xb1), z, z, Z14) })
	half(4, func() { a.VPERMILPS(operand.U8(0x4e), z, Z14) })
	half(2, func() { a.VPERMILPS(operand.U8(0xb1), z, Z14) })
	a.Label(done)
}

// headRows begins a function over rows: BX is the call, DI and SI are dst and x, R8
// bytes lead from row to row, R11 from weights to weights, R13 is the number of
// values left.
func headRows(a *assembler, name string, positions operand.Mem) gotypes.Component {
	a.function(name)
	call := a.pointed("c", RBX)
	a.Load(call.Field("heads"), RAX)
	headsOf(a, positions)
	a.four(RAX, R11)
	a.fields(call, argument{"dst", RDI}, argument{"x", RSI}, argument{"stride", R8}, argument{"values", R13})
	return call
}

// headList begins the list of rows anew: R9 is the next one, R10 its weights, R12
// how many are left.
func headList(a *assembler, call gotypes.Component) {
	a.fields(call, argument{"rows", R9}, argument{"weights", R10}, argument{"count", R12})
}

// headRow takes the offset of the next row into DX and its weights into Z4.
func headRow(a *assembler) {
	a.MOVL(at(R9, 0), EDX)
	a.IMULQ(R8, RDX)
	perHead(a, at(R10, 0), Z4)
	a.add(4, R9)
	a.ADDQ(R11, R10)
}

// overRows goes through the values, 64 at a time and then 16: start sets the four
// or the one register that begin at Z0, row takes a row, store ends the list.
func overRows(a *assembler, call gotypes.Component, wide, narrow listLoop) {
	a.whole()
	part := func(label, again string, l listLoop) {
		l.start()
		headList(a, call)
		a.Label(label)
		headRow(a)
		l.row()
		a.DECQ(R12)
		a.JNZ(to(label))
		l.store()
		a.add(4*l.values, RDI, RSI)
		a.SUBQ(imm(l.values), R13)
		a.JMP(to(again))
	}
	a.Label("wide")
	a.CMPQ(R13, imm(wide.values))
	a.JLT(to("narrow"))
	part("row", "wide", wide)
	a.Label("narrow")
	a.MOVQ(R13, RCX)
	a.begin(group, "full", "done")
	a.Label("full")
	part("part", "narrow", narrow)
	a.Label("done")
	a.ret()
}

// listLoop is what a loop over a list of rows does for a number of values.
type listLoop struct {
	values            int
	start, row, store func()
}

func sumHeadRows(a *assembler, positions operand.Mem) {
	call := headRows(a, "sumHeadRowsAVX512", positions)
	overRows(a, call, listLoop{
		values: 64,
		start:  func() { a.zero(Z0, Z1, Z2, Z3) },
		row: func() {
			each(Z5, func(product VecPhysical, bytes int) { a.VMULPS(at(RSI, bytes).Idx(RDX, 1), Z4, product) })
			for i, sum := range []VecPhysical{Z0, Z1, Z2, Z3} {
				a.VADDPS(vectors()[5+i], sum, sum)
			}
		},
		store: func() { each(Z0, func(sum VecPhysical, bytes int) { a.VMOVUPS(sum, at(RDI, bytes)) }) },
	}, listLoop{
		values: group,
		start:  func() { a.zero(Z0) },
		row: func() {
			a.VMOVUPS_Z(at(RSI, 0).Idx(RDX, 1), K1, Z5)
			a.VMULPS(Z5, Z4, Z5)
			a.VADDPS(Z5, Z0, Z0)
		},
		store: func() { a.VMOVUPS(Z0, K1, at(RDI, 0)) },
	})
}

func addHeadRows(a *assembler, positions operand.Mem) {
	call := headRows(a, "addHeadRowsAVX512", positions)
	nothing := func() {}
	overRows(a, call, listLoop{
		values: 64,
		start:  func() { each(Z0, func(x VecPhysical, bytes int) { a.VMOVUPS(at(RSI, bytes), x) }) },
		row: func() {
			for i, x := range []VecPhysical{Z0, Z1, Z2, Z3} {
				a.VMULPS(x, Z4, vectors()[5+i])
			}
			each(Z5, func(sum VecPhysical, bytes int) { a.VADDPS(at(RDI, bytes).Idx(RDX, 1), sum, sum) })
			each(Z5, func(sum VecPhysical, bytes int) { a.VMOVUPS(sum, at(RDI, bytes).Idx(RDX, 1)) })
		},
		store: nothing,
	}, listLoop{
		values: group,
		start:  func() { a.VMOVUPS_Z(at(RSI, 0), K1, Z0) },
		row: func() {
			a.VMOVUPS_Z(at(RDI, 0).Idx(RDX, 1), K1, Z6)
			a.VMULPS(Z0, Z4, Z5)
			a.VADDPS(Z6, Z5, Z5)
			a.VMOVUPS(Z5, K1, at(RDI, 0).Idx(RDX, 1))
		},
		store: nothing,
	})
}

// dotHeadRows takes the rows from dst and stores the results in weights.
func dotHeadRows(a *assembler, positions operand.Mem) {
	call := headRows(a, "dotHeadRowsAVX512", positions)
	headList(a, call)
	a.Label("row")
	a.MOVL(at(R9, 0), EDX)
	a.IMULQ(R8, RDX)
	a.ADDQ(RDI, RDX)
	a.MOVQ(RSI, R14)
	a.MOVQ(R13, RCX)
	a.zero(Z0)
	a.whole()
	a.loop("columns", group, func() {
		a.VMOVUPS_Z(at(R14, 0), K1, Z1)
		a.VMOVUPS_Z(at(RDX, 0), K1, Z2)
		a.VMULPS(Z2, Z1, Z1)
		a.VADDPS(Z1, Z0, Z0)
	}, R14, RDX)
	fold(a, a.VADDPS, Z0, "folded")
	nextScore(a)
	a.ret()
}

// nextScore stores a value per head and goes on with the next row.
func nextScore(a *assembler) {
	a.VMOVUPS(Z0, K3, at(R10, 0))
	a.add(4, R9)
	a.ADDQ(R11, R10)
	a.DECQ(R12)
	a.JNZ(to("row"))
}
