package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// adamAVX2 describes a step of Adam for AVX2, 8 weights at a time: the operations of
// the loop in plain Go in the same order, none of them fused. R9 holds constants that
// registers have no room for, Y15 the largest absolute values of the weights so far,
// as bits.
func adamAVX2(a *assembler) {
	// An absolute value is kept if, as a number, it is above these.
	bounds := a.data("adamBounds")
	for _, bits := range []uint64{
		a.constant("smallFirst") - 1, a.constant("smallSecond") - 1, a.constant("smallWeight") - 1,
		bitsOfValue, bitsOfInfinity - 1,
	} {
		for range eight {
			a.AppendDatum(operand.U32(bits))
		}
	}
	const first, second, weight, value, infinity = 0, 32, 64, 96, 128
	unlessBelow := func(small int, x VecPhysical) {
		a.VPAND(at(R9, value), x, Y13)
		a.VPCMPGTD(at(R9, small), Y13, Y14)
		a.VPAND(Y14, x, x)
	}
	a.function("adamAVX2")
	step := a.pointed("s", R8)
	a.args(argument{"p", RDI}, argument{"grad", RSI}, argument{"m", RDX}, argument{"v", RBX}, argument{"n", RCX})
	a.LEAQ(bounds, R9)
	for i, name := range []string{
		"Decay", "Shrink", "Beta1", "Beta2", "OneMinusBeta1", "OneMinusBeta2", "Size", "RootScale", "Epsilon",
	} {
		a.VBROADCASTSS(address(step.Field(name)), []VecPhysical{Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12}[i])
	}
	a.VXORPS(Y15, Y15, Y15)
	a.eights(eight, func() {
		a.VMOVUPS(at(RDI, 0), Y0)
		a.VMULPS(Y0, Y4, Y1)
		a.VADDPS(at(RSI, 0), Y1, Y1)
		unlessBelow(first, Y1)
		a.VMULPS(at(RDX, 0), Y6, Y2)
		a.VMULPS(Y1, Y8, Y13)
		a.VADDPS(Y13, Y2, Y2)
		unlessBelow(first, Y2)
		a.VMULPS(Y1, Y1, Y1)
		a.VMULPS(Y1, Y9, Y1)
		a.VMULPS(at(RBX, 0), Y7, Y3)
		a.VADDPS(Y1, Y3, Y3)
		unlessBelow(second, Y3)
		a.VMOVUPS(Y2, at(RDX, 0))
		a.VMOVUPS(Y3, at(RBX, 0))
		a.VSQRTPS(Y3, Y3)
		a.VMULPS(Y11, Y3, Y3)
		a.VADDPS(Y12, Y3, Y3)
		a.VMULPS(Y2, Y10, Y2)
		a.VDIVPS(Y3, Y2, Y2)
		a.VMULPS(Y5, Y0, Y0)
		a.VSUBPS(Y2, Y0, Y0)
		unlessBelow(weight, Y0)
		a.VMOVUPS(Y0, at(RDI, 0))
		a.VPMAXUD(Y13, Y15, Y15)
	}, RDI, RSI, RDX, RBX)
	a.VPCMPGTD(at(R9, infinity), Y15, Y0)
	a.VPTEST(Y0, Y0)
	a.SETEQ(a.result())
	a.ret()
}
