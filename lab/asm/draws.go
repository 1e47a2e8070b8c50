package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// draws describes the keyed random draws.
func draws(a *assembler) {
	drawsBelow(a)
	mask(a)
	maskColumns(a)
}

// mixConstants loads the constants of mix into Z18 and Z19.
func mixConstants(a *assembler) {
	spread64(a, "mixFirst", Z18)
	spread64(a, "mixSecond", Z19)
}

// spread64 sets all 64-bit values of a register to a constant, by way of AX.
func spread64(a *assembler, constant string, z VecPhysical) {
	a.MOVQ(operand.U64(a.constant(constant)), RAX)
	a.VPBROADCASTQ(RAX, z)
}

// mix is Mix of the 8 values in x. free is overwritten.
func mix(a *assembler, x, free VecPhysical) {
	round := func(bits uint8) {
		a.VPSRLQ(operand.U8(bits), x, free)
		a.VPXORQ(free, x, x)
	}
	round(30)
	a.VPMULLQ(Z18, x, x)
	round(27)
	a.VPMULLQ(Z19, x, x)
	round(31)
}

// drawsOf leaves the upper halves of the draws for 8 keys in x.
func drawsOf(a *assembler, keys operand.Op, x, free VecPhysical) {
	a.VPXORQ(keys, Z16, x)
	mix(a, x, free)
	a.VPSRLQ(operand.U8(32), x, x)
}

// found appends the positions of the bits of AX, 0 standing for R8.
func found(a *assembler, next, last string) {
	a.TESTQ(RAX, RAX)
	a.JZ(to(last))
	a.Label(next)
	a.BSFQ(RAX, RDX)
	a.ADDQ(R8, RDX)
	a.MOVL(EDX, at(RDI, 0))
	a.add(4, RDI)
	a.LEAQ(at(RAX, -1), RDX)
	a.ANDQ(RDX, RAX)
	a.JNZ(to(next))
	a.Label(last)
}

// drawsBelow: hits are rare where it matters, so they leave the registers one by
// one.
func drawsBelow(a *assembler) {
	a.function("belowAVX512")
	a.args(argument{"into", RDI}, argument{"keys", RSI}, argument{"n", RCX})
	a.VPBROADCASTQ(address(a.Param("key")), Z16)
	a.VPBROADCASTQ(address(a.Param("limit")), Z17)
	mixConstants(a)
	a.MOVQ(RDI, R9)
	a.XORQ(R8, R8)
	a.JMP(to("four"))

	a.Label("body")
	z, k := vectors(), []OpmaskPhysical{K1, K2, K3, K4}
	for i := range 4 {
		drawsOf(a, at(RSI, 64*i), z[2*i], z[2*i+1])
	}
	for i := range 4 {
		a.VPCMPUQ(operand.U8(less), Z17, z[2*i], k[i])
	}
	a.KUNPCKBW(K1, K2, K1)
	a.KUNPCKBW(K3, K4, K3)
	a.KMOVW(K1, EAX)
	a.KMOVW(K3, EDX)
	a.SHLL(operand.U8(16), EDX)
	a.ORL(EDX, EAX)
	found(a, "bit", "none")
	a.add(256, RSI)
	a.add(32, R8)
	a.SUBQ(imm(32), RCX)
	a.Label("four")
	a.CMPQ(RCX, imm(32))
	a.JGE(to("body"))
	a.whole()

	a.Label("one")
	a.begin(8, "some", "done")
	a.Label("some")
	a.VMOVDQU64_Z(at(RSI, 0), K1, Z0)
	drawsOf(a, Z0, Z0, Z1)
	a.VPCMPUQ(operand.U8(less), Z17, Z0, K1, K2)
	a.KMOVB(K2, EAX)
	found(a, "lastBit", "lastNone")
	a.add(64, RSI)
	a.add(8, R8)
	a.SUBQ(imm(8), RCX)
	a.JMP(to("one"))

	a.Label("done")
	a.SUBQ(RDI, R9)
	a.NEGQ(R9)
	a.SHRQ(operand.U8(2), R9)
	a.MOVQ(R9, a.result())
	a.ret()
}

// mask keeps in Z0 the values that 8 pairs of columns mix. Their draws lie in the
// order of the columns.
func mask(a *assembler) {
	numbers := a.data("pairNumbers")
	a.AppendDatum(operand.U64(0x0807060504030201))
	a.function("maskAVX512")
	a.args(argument{"mask", RDI}, argument{"n", RCX}, argument{"limit", EAX})
	a.VPBROADCASTD(EAX, Z16)
	a.VBROADCASTSS(address(a.Param("rest")), Z17)
	mixConstants(a)
	// key + mixStep·(1, …, 8), and 8·mixStep for the next ones.
	a.VPMOVZXBQ(numbers, Z0)
	spread64(a, "mixStep", Z2)
	a.VPMULLQ(Z2, Z0, Z0)
	a.VPSLLQ(operand.U8(3), Z2, Z2)
	a.VPBROADCASTQ(address(a.Param("key")), Z1)
	a.VPADDQ(Z1, Z0, Z0)
	a.whole()
	a.loop("group", group, func() {
		a.VMOVDQA64(Z0, Z1)
		mix(a, Z1, Z3)
		a.VPCMPUD(operand.U8(notLess), Z16, Z1, K2)
		a.VMOVUPS_Z(Z17, K2, Z1)
		a.VMOVUPS(Z1, K1, at(RDI, 0))
		a.VPADDQ(Z2, Z0, Z0)
	}, RDI)
	a.ret()
}

func maskColumns(a *assembler) {
	a.function("maskColumnsAVX512")
	call := a.pointed("c", RBX)
	a.fields(call, argument{"dst", RDI}, argument{"values", RSI}, argument{"columns", RDX}, argument{"count", RCX})
	a.VPBROADCASTQ(address(call.Field("key")), Z16)
	a.VPBROADCASTD(address(call.Field("limit")), Y17)
	a.VBROADCASTSS(address(call.Field("rest")), Y20)
	mixConstants(a)
	spread64(a, "mixStep", Z21)
	a.MOVL(operand.U32(1), EAX)
	a.VPBROADCASTQ(RAX, Z22)
	a.whole()
	a.loop("group", group/2, func() {
		a.VMOVDQU32_Z(at(RDX, 0), K1, Y0)
		a.VPMOVZXDQ(Y0, Z0)
		a.VPSRLQ(operand.U8(1), Z0, Z1)
		a.VPADDQ(Z22, Z1, Z1)
		a.VPMULLQ(Z21, Z1, Z1)
		a.VPADDQ(Z16, Z1, Z1)
		mix(a, Z1, Z2)

		// The draw of an odd column is the upper half.
		a.VPANDQ(Z22, Z0, Z0)
		a.VPSLLQ(operand.U8(5), Z0, Z0)
		a.VPSRLVQ(Z0, Z1, Z1)
		a.VPMOVQD(Z1, Y1)
		a.VPCMPUD(operand.U8(notLess), Y17, Y1, K2)
		a.VMOVUPS_Z(at(RSI, 0), K1, Y0)
		a.VMULPS(Y20, Y0, Y0)
		a.VMOVUPS_Z(Y0, K2, Y0)
		a.VMOVUPS(Y0, K1, at(RDI, 0))
	}, RDI, RSI, RDX)
	a.ret()
}
