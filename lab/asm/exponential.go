package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Bits of float32 values.
const (
	bitsOfOne      = 0x3f800000
	bitsOfInfinity = 0x7f800000
	bitsOfValue    = 0x7fffffff // all but the sign
)

// exponentials loads the constants of exponential into Z16 to Z26. Z24 is 1. It
// takes R15.
func exponentials(a *assembler) {
	a.spread(0x3fb8aa3b, R15, Z16) // log2 e
	a.spread(0x3f000000, R15, Z17) // 1/2
	a.spread(0x3f318000, R15, Z18) // ln 2, high part
	a.spread(0xb95e8083, R15, Z19) // ln 2, low part
	a.spread(0x3ab60b61, R15, Z20) // 1/720
	a.spread(0x3c088889, R15, Z21) // 1/120
	a.spread(0x3d2aaaab, R15, Z22) // 1/24
	a.spread(0x3e2aaaab, R15, Z23) // 1/6
	a.spread(bitsOfOne, R15, Z24)
	a.spread(127, R15, Z25)
	a.spread(0xc2ae0000, R15, Z26) // -87
}

// exponential replaces x by e^x for x ≤ 0, with the operations of the function of
// that name in plain Go. It takes Z10 to Z12 and K4 and K5.
func exponential(a *assembler, x VecPhysical) {
	a.VMULPS(Z16, x, Z10)
	a.VADDPS(Z17, Z10, Z10)
	a.VRNDSCALEPS(operand.U8(1), Z10, Z10)
	a.VMULPS(Z18, Z10, Z11)
	a.VSUBPS(Z11, x, Z11)
	a.VMULPS(Z19, Z10, Z12)
	a.VSUBPS(Z12, Z11, Z11)
	a.VMULPS(Z11, Z20, Z12)
	for _, coefficient := range []VecPhysical{Z21, Z22, Z23, Z17, Z24} {
		a.VADDPS(coefficient, Z12, Z12)
		a.VMULPS(Z11, Z12, Z12)
	}
	a.VADDPS(Z24, Z12, Z12)
	a.VCVTTPS2DQ(Z10, Z10)
	a.VPADDD(Z25, Z10, Z10)
	a.VPSLLD(operand.U8(23), Z10, Z10)
	a.VMULPS(Z10, Z12, Z12)
	a.VCMPPS(operand.U8(notBelow), Z26, x, K4)
	a.VCMPPS(operand.U8(notANumber), x, x, K5)
	a.VMOVAPS_Z(Z12, K4, Z12)
	a.VMOVAPS(x, K5, Z12)
	a.VMOVAPS(Z12, x)
}

// Predicates of VCMPPS. x is its last operand but the mask.
const (
	below      = 0x11
	notBelow   = 0x15
	notUpTo    = 0x16 // above, or not a number
	notAbove   = 0x1a
	notANumber = 0x03
)

// Predicates of the comparisons of integers.
const (
	less    = 1
	notLess = 5
)
