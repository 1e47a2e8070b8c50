package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// activations describes the loops of the interface of that name.
func activations(a *assembler) {
	a.function("leakyReLUAVX512", "With y as grad, it is LeakyReLU itself.")
	a.args(argument{"dst", RDI}, argument{"y", RSI}, argument{"grad", RDX}, argument{"n", RCX})
	a.VBROADCASTSS(address(a.Param("slope")), Z3)
	a.zero(Z4)
	a.whole()
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z0)
		a.VMOVUPS_Z(at(RDX, 0), K1, Z1)
		a.VCMPPS(operand.U8(notAbove), Z4, Z0, K2)
		a.VMULPS(Z3, Z1, K2, Z1)
		a.VMOVUPS(Z1, K1, at(RDI, 0))
	}, RDI, RSI, RDX)
	a.ret()

	elu(a)
	sigmoid(a)
}

func elu(a *assembler) {
	a.function("eluAVX512")
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"n", RCX})
	a.zero(Z4)
	a.whole()
	exponentials(a)
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z0)
		a.VCMPPS(operand.U8(below), Z4, Z0, K2)
		a.VMOVAPS(Z0, Z1)
		exponential(a, Z1)
		a.VSUBPS(Z24, Z1, K2, Z0)
		a.VMOVUPS(Z0, K1, at(RDI, 0))
	}, RDI, RSI)
	a.ret()

	a.function("eluGradAVX512")
	a.args(argument{"dst", RDI}, argument{"y", RSI}, argument{"grad", RDX}, argument{"n", RCX})
	a.zero(Z4)
	a.spread(bitsOfOne, R15, Z5)
	a.whole()
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z0)
		a.VMOVUPS_Z(at(RDX, 0), K1, Z1)
		a.VMINPS(Z0, Z4, Z0) // y, unless it is above 0
		a.VADDPS(Z0, Z5, Z0)
		a.VMULPS(Z0, Z1, Z0)
		a.VMOVUPS(Z0, K1, at(RDI, 0))
	}, RDI, RSI, RDX)
	a.ret()
}

func sigmoid(a *assembler) {
	a.function("sigmoidAVX512")
	a.args(argument{"dst", RDI}, argument{"x", RSI}, argument{"n", RCX})
	a.zero(Z4)
	a.spread(0x80000000, R15, Z5)
	a.whole()
	exponentials(a)
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z0)
		a.VPORD(Z5, Z0, Z1) // -|x|
		a.VCMPPS(operand.U8(below), Z4, Z0, K2)
		exponential(a, Z1)
		a.VMOVAPS(Z24, Z2)
		a.VMOVAPS(Z1, K2, Z2)
		a.VADDPS(Z24, Z1, Z1)
		a.VDIVPS(Z1, Z2, Z0)
		a.VMOVUPS(Z0, K1, at(RDI, 0))
	}, RDI, RSI)
	a.ret()
}
