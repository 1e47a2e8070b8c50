package main

import . "github.com/mmcloughlin/avo/reg"

// softmax describes softmax over heads and its gradient.
func softmax(a *assembler) {
	softmaxForward(a)
	softmaxGrad(a)
}

// softmaxForward: what is not a number is never the largest, but becomes a result
// that is none.
func softmaxForward(a *assembler) {
	const minusInfinity = 0xff800000
	again := func() {
		a.args(argument{"x", RSI}, argument{"n", RCX})
		a.whole()
	}
	a.function("softmaxAVX512")
	a.args(argument{"heads", RAX})
	exponentials(a)
	a.spread(minusInfinity, R15, Z0) // the largest so far
	a.VMOVAPS(Z0, Z2)
	again()
	a.loop("search", group, func() {
		a.VMOVAPS(Z2, Z1)
		a.VMOVUPS(at(RSI, 0), K1, Z1)
		a.VMAXPS(Z0, Z1, Z0)
	}, RSI)
	fold(a, a.VMAXPS, Z0, "largest")

	a.zero(Z3)
	again()
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z1)
		a.VSUBPS(Z0, Z1, Z1)
		exponential(a, Z1)
		a.VMOVUPS(Z1, K1, at(RSI, 0))
		a.VADDPS(Z1, Z3, K1, Z3)
	}, RSI)
	fold(a, a.VADDPS, Z3, "total")

	again()
	a.loop("share", group, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z1)
		a.VDIVPS(Z3, Z1, Z1)
		a.VMOVUPS(Z1, K1, at(RSI, 0))
	}, RSI)
	a.ret()
}

func softmaxGrad(a *assembler) {
	a.function("softmaxGradAVX512")
	a.args(argument{"grad", RDI}, argument{"y", RSI}, argument{"n", RCX}, argument{"heads", RAX})
	a.zero(Z0)
	a.whole()
	a.loop("group", group, func() {
		a.VMOVUPS_Z(at(RDI, 0), K1, Z1)
		a.VMOVUPS_Z(at(RSI, 0), K1, Z2)
		a.VMULPS(Z2, Z1, Z1)
		a.VADDPS(Z1, Z0, Z0)
	}, RDI, RSI)
	fold(a, a.VADDPS, Z0, "total")
	a.args(argument{"grad", RDI}, argument{"y", RSI}, argument{"n", RCX})
	a.whole()
	a.loop("pull", group, func() {
		a.VMOVUPS_Z(at(RDI, 0), K1, Z1)
		a.VMOVUPS_Z(at(RSI, 0), K1, Z2)
		a.VSUBPS(Z0, Z1, Z1)
		a.VMULPS(Z1, Z2, Z1)
		a.VMOVUPS(Z1, K1, at(RDI, 0))
	}, RDI, RSI)
	a.ret()
}
