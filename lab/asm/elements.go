package main

import . "github.com/mmcloughlin/avo/reg"

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
