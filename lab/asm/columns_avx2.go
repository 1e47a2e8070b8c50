package main

import (
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/reg"
)

// columnsAVX2 describes the loops that go down the columns of a matrix, 8 at a time,
// for AVX2. The number of columns is a multiple of 8, and there are rows.
func columnsAVX2(a *assembler) {
	columnSumsAVX2(a, "columnSumsAVX2", func() {
		a.VCVTPS2PD(at(R9, 0), Y2)
		a.VCVTPS2PD(at(R9, 16), Y3)
		a.VADDPD(Y2, Y0, Y0)
		a.VADDPD(Y3, Y1, Y1)
	}, argument{"sums", RDI}, argument{"x", RSI})
	columnSumsAVX2(a, "columnSquaresAVX2", func() {
		a.VCVTPS2PD(at(R9, 0), Y2)
		a.VCVTPS2PD(at(R9, 16), Y3)
		a.VSUBPD(at(RDX, 0), Y2, Y2)
		a.VSUBPD(at(RDX, 32), Y3, Y3)
		a.VMULPD(Y2, Y2, Y2)
		a.VMULPD(Y3, Y3, Y3)
		a.VADDPD(Y2, Y0, Y0)
		a.VADDPD(Y3, Y1, Y1)
	}, argument{"sums", RDI}, argument{"centre", RDX}, argument{"x", RSI})
	columnSumsAVX2(a, "columnDotsAVX2", func() {
		a.VCVTPS2PD(at(R9, 0), Y2)
		a.VCVTPS2PD(at(R9, 16), Y3)
		a.VCVTPS2PD(at(R9, 0).Idx(R10, 1), Y4)
		a.VCVTPS2PD(at(R9, 16).Idx(R10, 1), Y5)
		a.VFMADD231PD(Y2, Y4, Y0)
		a.VFMADD231PD(Y3, Y5, Y1)
	}, argument{"sums", RDI}, argument{"x", RSI}, argument{"y", R10})
	normaliseAVX2(a)
	normaliseGradAVX2(a)
}

// columnSumsAVX2 describes a loop whose sums are in Y0 and Y1: DI is the sums, DX a
// vector of their kind, SI x, R10 how far y lies behind it, BX the bytes between rows,
// R8 the rows left, R9 the values of x in this row, CX the columns left.
func columnSumsAVX2(a *assembler, name string, row func(), args ...argument) {
	a.function(name)
	a.args(args...)
	doubles := []Register{RDI}
	for _, of := range args {
		switch of.name {
		case "y":
			a.SUBQ(RSI, R10)
		case "centre":
			doubles = append(doubles, RDX)
		}
	}
	a.Load(a.Param("cols"), RCX)
	a.four(RCX, RBX)
	a.eights(eight, func() {
		a.Load(a.Param("rows"), R8)
		a.MOVQ(RSI, R9)
		a.VXORPD(Y0, Y0, Y0)
		a.VXORPD(Y1, Y1, Y1)
		a.Label("row")
		row()
		a.ADDQ(RBX, R9)
		a.DECQ(R8)
		a.JNZ(to("row"))
		a.VMOVUPD(Y0, at(RDI, 0))
		a.VMOVUPD(Y1, at(RDI, 32))
		a.add(8*eight, doubles...)
	}, RSI)
	a.ret()
}

// columnOf loads the values of a vector that belong to the columns, by way of AX.
func columnOf(a *assembler, call gotypes.Component, name string, y VecPhysical) {
	a.Load(field(call, name), RAX)
	a.VMOVUPS(at(RAX, 0).Idx(R14, 1), y)
}

// normaliseColumns describes a batch norm: DI is dst, SI x, DX z, R14 the bytes before
// the columns in a row. group loads what belongs to the columns, row leaves in Y0 what
// dst becomes.
func normaliseColumns(a *assembler, call gotypes.Component, group, row func()) {
	a.Load(call.Field("cols"), RCX)
	a.four(RCX, RBX)
	a.XORQ(R14, R14)
	a.eights(eight, func() {
		group()
		a.fields(call, argument{"dst", RDI}, argument{"x", RSI}, argument{"z", RDX}, argument{"rows", R9})
		a.MOVQ(R14, R10)
		a.Label("row")
		row()
		a.VMOVUPS(Y0, at(RDI, 0).Idx(R10, 1))
		a.ADDQ(RBX, R10)
		a.DECQ(R9)
		a.JNZ(to("row"))
	}, R14)
	a.ret()
}

// normaliseAVX2 is z = (x − shift)·inverse and dst = z·weight + bias, nothing fused.
func normaliseAVX2(a *assembler) {
	a.function("normaliseAVX2")
	call := a.pointed("n", R8)
	normaliseColumns(a, call, func() {
		columnOf(a, call, "shift", Y1)
		columnOf(a, call, "inverse", Y2)
		columnOf(a, call, "weight", Y3)
		columnOf(a, call, "bias", Y4)
	}, func() {
		a.VMOVUPS(at(RSI, 0).Idx(R10, 1), Y0)
		a.VSUBPS(Y1, Y0, Y0)
		a.VMULPS(Y2, Y0, Y0)
		a.VMOVUPS(Y0, at(RDX, 0).Idx(R10, 1))
		a.VMULPS(Y3, Y0, Y0)
		a.VADDPS(Y4, Y0, Y0)
	})
}

// normaliseGradAVX2 is dst = weight·inverse·(x − share·(sum + z·along)), nothing fused.
func normaliseGradAVX2(a *assembler) {
	a.function("normaliseGradAVX2")
	call := a.pointed("n", R8)
	a.VBROADCASTSS(address(call.Field("share")), Y5)
	normaliseColumns(a, call, func() {
		columnOf(a, call, "sum", Y1)
		columnOf(a, call, "inverse", Y2)
		columnOf(a, call, "weight", Y3)
		a.VMULPS(Y2, Y3, Y3)
		columnOf(a, call, "along", Y4)
	}, func() {
		a.VMULPS(at(RDX, 0).Idx(R10, 1), Y4, Y6)
		a.VADDPS(Y6, Y1, Y6)
		a.VMULPS(Y6, Y5, Y6)
		a.VMOVUPS(at(RSI, 0).Idx(R10, 1), Y0)
		a.VSUBPS(Y6, Y0, Y0)
		a.VMULPS(Y0, Y3, Y0)
	})
}
