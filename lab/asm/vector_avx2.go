package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// eight is how many values of 32 bits a register of AVX2 holds. Its loops take whole
// groups alone, at least one: what is left over is for the loops in plain Go.
const eight = 8

// eights goes through RCX values, count at a time. The pointers go along.
func (a *assembler) eights(count int, body func(), pointers ...Register) {
	a.Label("group")
	body()
	a.add(4*count, pointers...)
	a.SUBQ(imm(count), RCX)
	a.JG(to("group"))
}

// vectorAVX2 describes the loops over vectors for AVX2.
func vectorAVX2(a *assembler) {
	combine(a, "sumAVX2", a.VADDPS)
	combine(a, "productAVX2", a.VMULPS)

	a.function("scaleAVX2")
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"n", RCX})
	a.VBROADCASTSS(address(a.Param("alpha")), Y2)
	a.eights(eight, func() {
		a.VMULPS(at(RSI, 0), Y2, Y0)
		a.VMOVUPS(Y0, at(RDI, 0))
	}, RDI, RSI)
	a.ret()

	a.function("reluAVX2")
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"n", RCX})
	a.VXORPS(Y1, Y1, Y1)
	a.eights(eight, func() {
		a.VMOVUPS(at(RSI, 0), Y0)
		a.VCMPPS(operand.U8(notUpTo), Y1, Y0, Y2)
		a.VANDPS(Y2, Y0, Y0)
		a.VMOVUPS(Y0, at(RDI, 0))
	}, RDI, RSI)
	a.ret()

	a.function("reluGradAVX2")
	a.args(argument{"dst", RDI}, argument{"y", RSI}, argument{"grad", RDX}, argument{"n", RCX})
	a.VXORPS(Y1, Y1, Y1)
	a.eights(eight, func() {
		a.VPCMPEQD(at(RSI, 0), Y1, Y0)
		a.VPANDN(at(RDX, 0), Y0, Y0)
		a.VMOVUPS(Y0, at(RDI, 0))
	}, RDI, RSI, RDX)
	a.ret()

	dotAVX2(a)
}

// combine describes a loop that stores in dst what x and y give.
func combine(a *assembler, name string, operation func(...operand.Op)) {
	a.function(name)
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"y", RDX}, argument{"n", RCX})
	a.eights(eight, func() {
		a.VMOVUPS(at(RSI, 0), Y0)
		operation(at(RDX, 0), Y0, Y0)
		a.VMOVUPS(Y0, at(RDI, 0))
	}, RDI, RSI, RDX)
	a.ret()
}

// dotAVX2 stores the 16 sums of a dot product, 16 values at a time, in Y0 to Y3.
func dotAVX2(a *assembler) {
	a.function("dotAVX2")
	a.args(argument{"sums", RDX}, argument{"x", RDI}, argument{"y", RSI}, argument{"n", RCX})
	sums := []VecPhysical{Y0, Y1, Y2, Y3}
	for _, sum := range sums {
		a.VXORPD(sum, sum, sum)
	}
	a.eights(2*eight, func() {
		for i, sum := range sums {
			a.VCVTPS2PD(at(RDI, 16*i), Y4)
			a.VCVTPS2PD(at(RSI, 16*i), Y5)
			a.VFMADD231PD(Y4, Y5, sum)
		}
	}, RDI, RSI)
	for i, sum := range sums {
		a.VMOVUPD(sum, at(RDX, 32*i))
	}
	a.ret()
}
