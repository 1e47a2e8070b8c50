package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// holding says how the eight doubles of a group of columns are held: in one register of
// AVX-512 or in two of AVX2.
type holding struct {
	suffix string
	// registers lists those of one group after those of another.
	registers []VecPhysical
	per       int
}

func heldAVX2() holding {
	return holding{"AVX2", []VecPhysical{
		Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15,
	}, 2}
}

func heldAVX512() holding { return holding{"AVX512", vectors(), 1} }

// group is the registers of a group.
func (d holding) group(i int) []VecPhysical { return d.registers[i*d.per : (i+1)*d.per] }

// bytes is where part of a group of doubles lies; its floats take half of that.
func (d holding) bytes(part int) int { return part * 64 / d.per }

// regressionAVX2 and regressionAVX512 describe the loops of package logistic over bands of rows, four
// at a time. No product is fused with a sum, so that plain Go computes the same bits. SI is the rows,
// AX, BX and R10 lead from one to the next, R8 counts the fours, R13 is how far the columns are, in
// bytes of floats, of R9.
func regressionAVX2(a *assembler) {
	scoreRows(a, heldAVX2())
	addRowsTimesSteps(a, heldAVX2())
}

func regressionAVX512(a *assembler) {
	scoreRows(a, heldAVX512())
	addRowsTimesSteps(a, heldAVX512())
}

// fours goes through a band of rows.
func fours(a *assembler, row, columns, done func(), pointer Register) {
	a.Load(a.Param("stride"), R9)
	a.four(R9, R9)
	a.LEAQ(operand.Mem{Base: R9, Index: R9, Scale: 1}, RBX)
	a.LEAQ(operand.Mem{Base: RBX, Index: R9, Scale: 1}, R10)
	a.MOVQ(operand.U32(a.constant("band")/4), R8)
	a.Label("row")
	row()
	a.XORQ(R13, R13)
	a.Label("columns")
	columns()
	a.add(32, R13)
	a.CMPQ(R13, R9)
	a.JLT(to("columns"))
	done()
	a.LEAQ(operand.Mem{Base: RSI, Index: R9, Scale: 4}, RSI)
	a.add(32, pointer)
	a.DECQ(R8)
	a.JNZ(to("row"))
	a.ret()
}

// productOf multiplies the columns of one of four rows, RAX being their place, with a factor.
func productOf(a *assembler, row, bytes int, factor, into VecPhysical) {
	at := operand.Mem{Base: RAX, Disp: bytes}
	if row > 0 {
		at.Index, at.Scale = []Register{R9, RBX, R10}[row-1], 1
	}
	a.VCVTPS2PD(at, into)
	a.VMULPD(factor, into, into)
}

func scoreRows(a *assembler, d holding) {
	a.function("scoreRows" + d.suffix)
	a.args(argument{"scores", RDI}, argument{"weights", RDX}, argument{"rows", RSI})
	weights, product := d.group(4), d.group(5)
	fours(a, func() {
		for row := range 4 {
			for _, sum := range d.group(row) {
				a.VXORPD(sum, sum, sum)
			}
		}
	}, func() {
		a.LEAQ(operand.Mem{Base: RSI, Index: R13, Scale: 1}, RAX)
		for part := range d.per {
			a.VMOVUPD(operand.Mem{Base: RDX, Index: R13, Scale: 2, Disp: d.bytes(part)}, weights[part])
			for row := range 4 {
				sum := d.group(row)[part]
				productOf(a, row, d.bytes(part)/2, weights[part], product[part])
				a.VADDPD(product[part], sum, sum)
			}
		}
	}, func() {
		for row := range 4 {
			sums := d.group(row)
			sum := sums[0]
			if d.per == 1 {
				a.VEXTRACTF64X4(operand.U8(1), sum, product[0].AsY())
				a.VADDPD(product[0].AsY(), sum.AsY(), sum.AsY())
			} else {
				a.VADDPD(sums[1], sum, sum)
			}
			a.VEXTRACTF128(operand.U8(1), sum.AsY(), product[0].AsX())
			a.VADDPD(product[0].AsX(), sum.AsX(), sum.AsX())
			a.VUNPCKHPD(sum.AsX(), sum.AsX(), product[0].AsX())
			a.VADDSD(product[0].AsX(), sum.AsX(), sum.AsX())
			a.VMOVSD(sum.AsX(), at(RDI, 8*row))
		}
	}, RDI)
}

func addRowsTimesSteps(a *assembler, d holding) {
	a.function("addRows" + d.suffix)
	a.args(argument{"slopes", RDI}, argument{"steps", RDX}, argument{"rows", RSI})
	slopes, product := d.registers[4], d.registers[5]
	fours(a, func() {
		for row := range 4 {
			a.VBROADCASTSD(at(RDX, 8*row), d.registers[row])
		}
	}, func() {
		a.LEAQ(operand.Mem{Base: RSI, Index: R13, Scale: 1}, RAX)
		for part := range d.per {
			place := operand.Mem{Base: RDI, Index: R13, Scale: 2, Disp: d.bytes(part)}
			a.VMOVUPD(place, slopes)
			for row := range 4 {
				productOf(a, row, d.bytes(part)/2, d.registers[row], product)
				a.VADDPD(product, slopes, slopes)
			}
			a.VMOVUPD(slopes, place)
		}
	}, func() {}, RDX)
}
