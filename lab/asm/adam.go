package main

import (
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// adam describes a step of Adam. A group of 16 weights goes through three rounds,
// in which other groups keep the processor busy while root and quotient take their
// time: the moments (Z0 to Z3), the root of the second one (Z4 to Z6), the quotient
// and the weight (Z7 to Z9). The operations are those of the loop in plain Go in
// the same order, none of them fused. Z16 to Z29 hold constants, Z31 the largest
// absolute values of the weights so far, as bits.
//
// R10 counts the values that are left to take in, R11 those to give back. Rounds
// that do less than 16 of either are masked: the first two, and the last ones.
func adam(a *assembler) {
	a.function("adamAVX512")
	step := a.pointed("s", R8)
	a.args(argument{"p", RDI}, argument{"grad", RSI}, argument{"m", RDX}, argument{"v", RBX}, argument{"n", R10})
	adamConstants(a, step)
	a.LEAQ(at(R10, 2*group), R11)
	a.MOVQ(operand.U32(2), R12)

	a.Label("masked")
	a.mask(R10, K1)
	a.KXORW(K4, K4, K4)
	a.TESTQ(R12, R12)
	a.JG(to("warm"))
	a.mask(R11, K4)
	a.Label("warm")
	adamDivide(a)
	for i, p := range []Register{RDI, RSI, RDX, RBX} {
		a.VMOVUPS_Z(at(p, 0), K1, vectors()[i])
	}
	adamMoments(a)
	a.VMOVUPS(Z2, K1, at(RDX, 0))
	a.VMOVUPS(Z3, K1, at(RBX, 0))
	adamWeights(a)
	a.VPMAXUD(Z30, Z31, K4, Z31)
	a.VMOVUPS(Z7, K4, at(RDI, -128))
	adamPass(a)
	a.JLE(to("done"))
	a.DECQ(R12)
	a.JG(to("masked"))
	a.JMP(to("next"))

	a.Label("full")
	adamDivide(a)
	for i, p := range []Register{RDI, RSI, RDX, RBX} {
		a.VMOVUPS(at(p, 0), vectors()[i])
	}
	adamMoments(a)
	a.VMOVUPS(Z2, at(RDX, 0))
	a.VMOVUPS(Z3, at(RBX, 0))
	adamWeights(a)
	a.VPMAXUD(Z30, Z31, Z31)
	a.VMOVUPS(Z7, at(RDI, -128))
	adamPass(a)
	a.Label("next")
	a.CMPQ(R10, imm(group))
	a.JGE(to("full"))
	a.JMP(to("masked"))

	a.Label("done")
	a.spread(bitsOfInfinity, RAX, Z0)
	a.VPCMPUD(operand.U8(notLess), Z0, Z31, K2)
	a.KORTESTW(K2, K2)
	a.SETEQ(a.result())
	a.ret()
}

func adamConstants(a *assembler, step gotypes.Component) {
	for i, name := range []string{
		"Decay", "Shrink", "Beta1", "Beta2", "OneMinusBeta1", "OneMinusBeta2", "Size", "RootScale", "Epsilon",
	} {
		a.VBROADCASTSS(address(step.Field(name)), vectors()[16+i])
	}
	a.spread(a.constant("smallFirst"), RAX, Z26)
	a.spread(a.constant("smallSecond"), RAX, Z27)
	a.spread(a.constant("smallWeight"), RAX, Z28)
	a.spread(bitsOfValue, RAX, Z29)
	a.zero(Z31, Z4, Z5, Z6, Z7, Z8)
	a.VMOVAPS(Z24, Z9)
}

// unlessBelow replaces what is below small in absolute value by 0 and leaves the
// absolute values in Z30.
func unlessBelow(a *assembler, small, x VecPhysical) {
	a.VPANDD(Z29, x, Z30)
	a.VPCMPD(operand.U8(notLess), small, Z30, K2)
	a.VMOVUPS_Z(x, K2, x)
}

// adamDivide begins what takes long, for the groups of the last two rounds.
func adamDivide(a *assembler) {
	a.VDIVPS(Z9, Z8, Z8)
	a.VSQRTPS(Z6, Z6)
}

// adamMoments moves the moments of this round's group by its gradient with the
// decay. The second one has no sign.
func adamMoments(a *assembler) {
	a.VMULPS(Z0, Z16, Z30)
	a.VADDPS(Z30, Z1, Z1)
	unlessBelow(a, Z26, Z1)
	a.VMULPS(Z2, Z18, Z2)
	a.VMULPS(Z1, Z20, Z30)
	a.VADDPS(Z30, Z2, Z2)
	a.VMULPS(Z1, Z1, Z1)
	a.VMULPS(Z1, Z21, Z1)
	a.VMULPS(Z3, Z19, Z3)
	a.VADDPS(Z1, Z3, Z3)
	a.VPCMPUD(operand.U8(notLess), Z27, Z3, K2)
	a.VMOVUPS_Z(Z3, K2, Z3)
	unlessBelow(a, Z26, Z2)
}

// adamWeights moves the weights of the group of two rounds ago, after it has made
// divisor and dividend for the last one.
func adamWeights(a *assembler) {
	a.VMULPS(Z23, Z6, Z6)
	a.VADDPS(Z24, Z6, Z6)
	a.VMULPS(Z5, Z22, Z5)
	a.VMULPS(Z17, Z7, Z7)
	a.VSUBPS(Z8, Z7, Z7)
	unlessBelow(a, Z28, Z7)
}

// adamPass hands the groups on to the next round.
func adamPass(a *assembler) {
	a.VMOVAPS(Z4, Z7)
	a.VMOVAPS(Z5, Z8)
	a.VMOVAPS(Z6, Z9)
	a.VMOVAPS(Z0, Z4)
	a.VMOVAPS(Z2, Z5)
	a.VMOVAPS(Z3, Z6)
	a.add(4*group, RDI, RSI, RDX, RBX)
	a.SUBQ(imm(group), R10)
	a.SUBQ(imm(group), R11)
}

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
