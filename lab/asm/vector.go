package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// vector describes the loops over vectors.
func vector(a *assembler) {
	a.function("addAVX512")
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"n", RCX})
	a.whole()
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RDI, 0), K1, Z0)
		a.VMOVUPS_Z(at(RSI, 0), K1, Z1)
		a.VADDPS(Z1, Z0, Z0)
		a.VMOVUPS(Z0, K1, at(RDI, 0))
	}, RDI, RSI)
	a.ret()

	scaled(a, "scaleAVX512", func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z1)
		a.VMULPS(Z1, Z2, Z0)
	})
	scaled(a, "axpyAVX512", func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z1)
		a.VMOVUPS_Z(at(RDI, 0), K1, Z0)
		a.VFMADD231PS(Z1, Z2, Z0)
	})
	dot(a)

	a.function("reluAVX512")
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"n", RCX})
	a.zero(Z1)
	a.whole()
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z0)
		a.VCMPPS(operand.U8(notUpTo), Z1, Z0, K2)
		a.VMOVUPS_Z(Z0, K2, Z0)
		a.VMOVUPS(Z0, K1, at(RDI, 0))
	}, RDI, RSI)
	a.ret()

	a.function("reluGradAVX512")
	a.args(argument{"dst", RDI}, argument{"y", RSI}, argument{"grad", RDX}, argument{"n", RCX})
	a.whole()
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z0)
		a.VMOVUPS_Z(at(RDX, 0), K1, Z1)
		a.VPTESTMD(Z0, Z0, K2)
		a.VMOVUPS_Z(Z1, K2, Z1)
		a.VMOVUPS(Z1, K1, at(RDI, 0))
	}, RDI, RSI, RDX)
	a.ret()
}

// scaled describes a loop whose body leaves in Z0 what dst becomes, with alpha in
// Z2.
func scaled(a *assembler, name string, body func()) {
	a.function(name)
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"n", RCX})
	a.VBROADCASTSS(address(a.Param("alpha")), Z2)
	a.whole()
	a.loop("group", group, func() {
		body()
		a.VMOVUPS(Z0, K1, at(RDI, 0))
	}, RDI, RSI)
	a.ret()
}

// dot keeps 16 sums, one per position in a group, in Z0 and Z1. A product of two
// float32 is exact in float64, so fusing it rounds nothing away.
func dot(a *assembler) {
	a.function("dotAVX512")
	a.args(argument{"x", RDI}, argument{"y", RSI}, argument{"n", RCX})
	a.zero(Z0, Z1)
	a.whole()
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RDI, 0), K1, Z2)
		a.VMOVUPS_Z(at(RSI, 0), K1, Z3)
		a.VCVTPS2PD(Y2, Z4)
		a.VCVTPS2PD(Y3, Z5)
		a.VEXTRACTF64X4(operand.U8(1), Z2, Y2)
		a.VEXTRACTF64X4(operand.U8(1), Z3, Y3)
		a.VCVTPS2PD(Y2, Z2)
		a.VCVTPS2PD(Y3, Z3)
		a.VFMADD231PD(Z4, Z5, Z0)
		a.VFMADD231PD(Z2, Z3, Z1)
	}, RDI, RSI)
	a.VADDPD(Z1, Z0, Z0)
	a.VEXTRACTF64X4(operand.U8(1), Z0, Y1)
	a.VADDPD(Y1, Y0, Y0)
	a.VEXTRACTF128(operand.U8(1), Y0, X1)
	a.VADDPD(X1, X0, X0)
	a.VPERMILPD(operand.U8(1), X0, X1)
	a.VADDSD(X1, X0, X0)
	a.VMOVSD(X0, a.result())
	a.ret()
}

// elements describes the product of two vectors.
func elements(a *assembler) {
	a.function("multiplyAVX512")
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"y", RDX}, argument{"n", RCX})
	a.whole()
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z0)
		a.VMOVUPS_Z(at(RDX, 0), K1, Z1)
		a.VMULPS(Z1, Z0, Z0)
		a.VMOVUPS(Z0, K1, at(RDI, 0))
	}, RDI, RSI, RDX)
	a.ret()
}
