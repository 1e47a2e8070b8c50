package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// packAVX2 describes the loops that fill panels for the tile of AVX2.
func packAVX2(a *assembler) {
	copyPanels(a, "copySixAVX2", func() {
		a.VMOVUPS(at(R9, 0), X0)
		a.VMOVSD(at(R9, 16), X1)
		a.VMOVUPS(X0, at(R10, 0))
		a.VMOVSD(X1, at(R10, 16))
	})
	copyPanels(a, "copySixteenAVX2", func() {
		a.VMOVUPS(at(R9, 0), Y0)
		a.VMOVUPS(at(R9, 32), Y1)
		a.VMOVUPS(Y0, at(R10, 0))
		a.VMOVUPS(Y1, at(R10, 32))
	})
	transposeEight(a)
}

// copyPanels copies count rows, each to a number of panels by move, from R9 to R10.
func copyPanels(a *assembler, name string, move func()) {
	a.function(name)
	call := a.pointed("p", R8)
	a.fields(call, argument{"dst", RDI}, argument{"src", RSI}, argument{"count", RCX},
		argument{"dstStride", RDX}, argument{"srcStride", RBX}, argument{"panelStride", R13})
	a.Label("row")
	a.MOVQ(RSI, R9)
	a.MOVQ(RDI, R10)
	a.Load(call.Field("panels"), R11)
	a.Label("panel")
	move()
	a.ADDQ(RDX, R9)
	a.ADDQ(R13, R10)
	a.DECQ(R11)
	a.JNZ(to("panel"))
	a.ADDQ(RBX, RSI)
	a.ADDQ(RDX, RDI)
	a.DECQ(RCX)
	a.JNZ(to("row"))
	a.ret()
}

// transposeEight transposes rows (1 to 8) of count columns, a multiple of 8: column j
// becomes 8 values of row j of dst. Behind the last row come copies of it.
func transposeEight(a *assembler) {
	y := []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7}
	t := []VecPhysical{Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
	a.function("transposeEightAVX2")
	a.args(argument{"dst", RDI}, argument{"src", RSI}, argument{"count", RCX}, argument{"dstStride", RDX})
	a.XORQ(R12, R12)
	a.eights(eight, func() {
		a.MOVQ(RSI, R9)
		a.args(argument{"rows", R10}, argument{"srcStride", R11})
		for _, row := range y {
			a.VMOVUPS(at(R9, 0), row)
			a.DECQ(R10)
			a.CMOVQEQ(R12, R11)
			a.ADDQ(R11, R9)
		}
		for i := 0; i < eight; i += 2 {
			a.VUNPCKLPS(y[i+1], y[i], t[i])
			a.VUNPCKHPS(y[i+1], y[i], t[i+1])
		}
		// Of rows 0 to 3 and 4 to 7: the columns c and 4+c in two lanes of 128 bits.
		for i := 0; i < eight; i += 4 {
			a.VUNPCKLPD(t[i+2], t[i], y[i])
			a.VUNPCKHPD(t[i+2], t[i], y[i+1])
			a.VUNPCKLPD(t[i+3], t[i+1], y[i+2])
			a.VUNPCKHPD(t[i+3], t[i+1], y[i+3])
		}
		for half, lanes := range []operand.U8{0x20, 0x31} {
			for c := range 4 {
				a.VPERM2F128(lanes, y[4+c], y[c], t[4*half+c])
			}
		}
		for _, column := range t {
			a.VMOVUPS(column, at(RDI, 0))
			a.ADDQ(RDX, RDI)
		}
	}, RSI)
	a.ret()
}
