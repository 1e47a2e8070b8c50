package main

import (
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// columns describes the loops that go down the columns of a matrix, 16 at a time:
// sums in double precision, which each take their rows in ascending order, and
// batch norms.
func columns(a *assembler) {
	columnSums(a, "columnSumsAVX512", nil, func() {
		a.VMOVUPS_Z(at(R9, 0), K1, Z2)
		doubles(a, Z2, Y2, Y3, Z3)
		a.VADDPD(Z2, Z0, Z0)
		a.VADDPD(Z3, Z1, Z1)
		a.ADDQ(RBX, R9)
	}, argument{"sums", RDI}, argument{"x", RSI})
	columnSums(a, "columnSquaresAVX512", func() {
		a.VMOVUPD_Z(at(RDX, 0), K1, Z4)
		a.VMOVUPD_Z(at(RDX, 64), K2, Z5)
	}, func() {
		a.VMOVUPS_Z(at(R9, 0), K1, Z2)
		doubles(a, Z2, Y2, Y3, Z3)
		a.VSUBPD(Z4, Z2, Z2)
		a.VSUBPD(Z5, Z3, Z3)
		a.VMULPD(Z2, Z2, Z2)
		a.VMULPD(Z3, Z3, Z3)
		a.VADDPD(Z2, Z0, Z0)
		a.VADDPD(Z3, Z1, Z1)
		a.ADDQ(RBX, R9)
	}, argument{"sums", RDI}, argument{"centre", RDX}, argument{"x", RSI})
	columnSums(a, "columnDotsAVX512", nil, func() {
		a.VMOVUPS_Z(at(R9, 0), K1, Z2)
		a.VMOVUPS_Z(at(R10, 0), K1, Z4)
		a.VEXTRACTF64X4(operand.U8(1), Z2, Y3)
		a.VEXTRACTF64X4(operand.U8(1), Z4, Y5)
		a.VCVTPS2PD(Y2, Z2)
		a.VCVTPS2PD(Y3, Z3)
		a.VCVTPS2PD(Y4, Z4)
		a.VCVTPS2PD(Y5, Z5)
		a.VFMADD231PD(Z2, Z4, Z0)
		a.VFMADD231PD(Z3, Z5, Z1)
		a.ADDQ(RBX, R9)
		a.ADDQ(RBX, R10)
	}, argument{"sums", RDI}, argument{"x", RSI}, argument{"y", RDX})
	normalise(a)
	normaliseGrad(a)
}

// doubles turns 16 values into 8 doubles each in low and high.
func doubles(a *assembler, low, lower, upper, high VecPhysical) {
	a.VEXTRACTF64X4(operand.U8(1), low, upper)
	a.VCVTPS2PD(lower, low)
	a.VCVTPS2PD(upper, high)
}

// columnSums describes a loop whose sums are in Z0 and Z1: DI is the sums, SI x, BX
// the bytes between rows, R8 the rows left, R9 the value of x in this row, R10 that
// of y, CX the columns left. group loads what belongs to the columns, row adds a row.
func columnSums(a *assembler, name string, group, row func(), args ...argument) {
	a.function(name)
	a.args(args...)
	a.Load(a.Param("cols"), RCX)
	a.four(RCX, RBX)
	a.Label("group")
	columnMask(a)
	a.Load(a.Param("rows"), R8)
	a.MOVQ(RSI, R9)
	other := args[len(args)-1].name == "y"
	if other {
		a.MOVQ(RDX, R10)
	}
	a.zero(Z0, Z1)
	if group != nil {
		group()
	}
	a.Label("row")
	row()
	a.DECQ(R8)
	a.JNZ(to("row"))
	a.VMOVUPD(Z0, K1, at(RDI, 0))
	a.VMOVUPD(Z1, K2, at(RDI, 64))
	a.add(128, RDI)
	if group != nil {
		a.add(128, RDX)
	}
	a.add(64, RSI)
	if other {
		a.add(64, RDX)
	}
	a.SUBQ(imm(16), RCX)
	a.JG(to("group"))
	a.ret()
}

// columnMask masks the columns of this group by K1, and the last 8 of 16 by K2.
func columnMask(a *assembler) {
	a.MOVL(operand.U32(group), EAX)
	a.CMPQ(RCX, RAX)
	a.CMOVQLT(RCX, RAX)
	a.MOVL(operand.U32(1), R15L)
	a.XCHGQ(RAX, RCX)
	a.SHLL(CL, R15L)
	a.XCHGQ(RAX, RCX)
	a.DECL(R15L)
	a.KMOVW(R15L, K1)
	a.SHRL(operand.U8(8), R15L)
	a.KMOVW(R15L, K2)
}

// column loads the 16 values of a vector that belong to the columns, by way of AX.
func column(a *assembler, call gotypes.Component, name string, z VecPhysical) {
	a.Load(field(call, name), RAX)
	a.VMOVUPS_Z(at(RAX, 0).Idx(R14, 1), K1, z)
}

// normaliseRows describes the rows of a batch norm: DI is dst, SI x, DX z.
func normaliseRows(a *assembler, call gotypes.Component, row func()) {
	a.fields(call, argument{"dst", RDI}, argument{"x", RSI}, argument{"z", RDX})
	a.ADDQ(R14, RDI)
	a.ADDQ(R14, RSI)
	a.ADDQ(R14, RDX)
	a.Load(call.Field("rows"), R9)
	a.Label("row")
	row()
	a.VMOVUPS(Z0, K1, at(RDI, 0))
	a.ADDQ(RBX, RSI)
	a.ADDQ(RBX, RDI)
	a.ADDQ(RBX, RDX)
	a.DECQ(R9)
	a.JNZ(to("row"))
	a.add(64, R14)
	a.SUBQ(imm(16), RCX)
	a.JG(to("group"))
	a.ret()
}

// normalise is z = (x − shift)·inverse and dst = z·weight + bias, nothing fused.
func normalise(a *assembler) {
	a.function("normaliseAVX512")
	call := a.pointed("n", R8)
	a.Load(call.Field("cols"), RCX)
	a.four(RCX, RBX)
	a.XORQ(R14, R14)
	a.Label("group")
	columnMask(a)
	column(a, call, "shift", Z1)
	column(a, call, "inverse", Z2)
	column(a, call, "weight", Z3)
	column(a, call, "bias", Z4)
	normaliseRows(a, call, func() {
		a.VMOVUPS_Z(at(RSI, 0), K1, Z0)
		a.VSUBPS(Z1, Z0, Z0)
		a.VMULPS(Z2, Z0, Z0)
		a.VMOVUPS(Z0, K1, at(RDX, 0))
		a.VMULPS(Z3, Z0, Z0)
		a.VADDPS(Z4, Z0, Z0)
	})
}

// normaliseGrad is dst = weight·inverse·(x − share·(sum + z·along)), nothing fused.
func normaliseGrad(a *assembler) {
	a.function("normaliseGradAVX512")
	call := a.pointed("n", R8)
	a.Load(call.Field("cols"), RCX)
	a.four(RCX, RBX)
	a.XORQ(R14, R14)
	a.VBROADCASTSS(address(call.Field("share")), Z5)
	a.Label("group")
	columnMask(a)
	column(a, call, "sum", Z1)
	column(a, call, "inverse", Z2)
	column(a, call, "weight", Z3)
	a.VMULPS(Z2, Z3, Z3)
	column(a, call, "along", Z4)
	normaliseRows(a, call, func() {
		a.VMOVUPS_Z(at(RDX, 0), K1, Z6)
		a.VMULPS(Z4, Z6, Z6)
		a.VADDPS(Z6, Z1, Z6)
		a.VMULPS(Z6, Z5, Z6)
		a.VMOVUPS_Z(at(RSI, 0), K1, Z0)
		a.VSUBPS(Z6, Z0, Z0)
		a.VMULPS(Z0, Z3, Z0)
	})
}
