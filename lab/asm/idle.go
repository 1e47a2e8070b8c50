package main

import (
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// idle describes Adam's steps with no gradient. 64 weights stay in the registers
// for all steps. If one of their values would have become 0 because it is small, or
// is not finite in the end, nothing is stored, and the result is false.
func idle(a *assembler) {
	a.function("idleAVX512")
	steps := a.pointed("steps", R8)
	a.args(argument{"count", RCX}, argument{"p", RDI}, argument{"m", RDX}, argument{"v", RBX})
	each(Z0, func(w VecPhysical, bytes int) { a.VMOVUPS(at(RDI, bytes), w) })
	each(Z4, func(m VecPhysical, bytes int) { a.VMOVUPS(at(RDX, bytes), m) })
	each(Z8, func(v VecPhysical, bytes int) { a.VMOVUPS(at(RBX, bytes), v) })
	a.MOVB(operand.U8(0), a.result())
	a.spread(bitsOfInfinity, RAX, Z26)
	each(Z20, func(smallest VecPhysical, _ int) { a.VMOVAPS(Z26, smallest) })
	a.spread(bitsOfValue, RAX, Z25)

	a.Label("step")
	all := vectors()
	for i := range 4 {
		idleStep(a, steps, all[i], all[4+i], all[8+i], all[12+2*i:14+2*i])
	}
	a.ADDQ(imm(a.size("AdamStep")), R8)
	a.DECQ(RCX)
	a.JNZ(to("step"))

	for i, small := range []string{"smallFirst", "smallFirst", "smallSecond", "smallWeight"} {
		a.spread(a.constant(small), RAX, Z24)
		a.VPCMPUD(operand.U8(less), Z24, all[20+i], K1)
		a.KORTESTW(K1, K1)
		a.JNZ(to("done"))
	}
	each(Z0, func(w VecPhysical, _ int) {
		a.VPANDD(Z25, w, Z24)
		a.VPCMPUD(operand.U8(notLess), Z26, Z24, K1)
		a.KORTESTW(K1, K1)
		a.JNZ(to("done"))
	})
	each(Z0, func(w VecPhysical, bytes int) { a.VMOVUPS(w, at(RDI, bytes)) })
	each(Z4, func(m VecPhysical, bytes int) { a.VMOVUPS(m, at(RDX, bytes)) })
	each(Z8, func(v VecPhysical, bytes int) { a.VMOVUPS(v, at(RBX, bytes)) })
	a.MOVB(operand.U8(1), a.result())
	a.Label("done")
	a.ret()
}

// idleStep makes one step of 16 weights (w, m, v) whose gradient is 0, with the
// operations of the loop in plain Go but for the small values that it makes 0: the
// smallest absolute values are kept in Z20 to Z23 instead. Two registers are free.
func idleStep(a *assembler, step gotypes.Component, w, m, v VecPhysical, free []VecPhysical) {
	x, y := free[0], free[1]
	const smaller = 10 // of the absolute values
	of := func(name string) operand.Mem { return address(step.Field(name)) }
	a.VMULPS_BCST(of("Decay"), w, x)
	a.VRANGEPS(operand.U8(smaller), x, Z20, Z20)
	a.VMULPS_BCST(of("Beta1"), m, m)
	a.VMULPS_BCST(of("OneMinusBeta1"), x, y)
	a.VADDPS(y, m, m)
	a.VRANGEPS(operand.U8(smaller), m, Z21, Z21)
	a.VMULPS(x, x, x)
	a.VMULPS_BCST(of("OneMinusBeta2"), x, x)
	a.VMULPS_BCST(of("Beta2"), v, v)
	a.VADDPS(x, v, v)
	a.VRANGEPS(operand.U8(smaller), v, Z22, Z22)
	a.VSQRTPS(v, x)
	a.VMULPS_BCST(of("RootScale"), x, x)
	a.VADDPS_BCST(of("Epsilon"), x, x)
	a.VMULPS_BCST(of("Size"), m, y)
	a.VDIVPS(x, y, y)
	a.VMULPS_BCST(of("Shrink"), w, w)
	a.VSUBPS(y, w, w)
	a.VRANGEPS(operand.U8(smaller), w, Z23, Z23)
}
