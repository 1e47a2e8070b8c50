package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// cellBytes is the size of a cell of package trees, a register of 128 bits.
const cellBytes = 16

// histogram describes the loops that add rows to the histograms of eight features. They need
// no more than every amd64 has.
func histogram(a *assembler) {
	addRowsTo(a, "addAllRows", false)
	addRowsTo(a, "addListedRows", true)
	packRows(a)
}

// addRowsTo describes a loop over cells: DI is the histograms, SI the words of bins, DX the
// cell, R8 how many are left, R9 the next row where they are listed.
func addRowsTo(a *assembler, name string, listed bool) {
	a.function(name)
	a.args(argument{"p", RDI}, argument{"words", RSI}, argument{"cells", RDX}, argument{"n", R8})
	if listed {
		a.args(argument{"rows", R9})
	}
	a.align()
	a.Label("row")
	a.MOVOU(at(RDX, 0), X0)
	if listed {
		a.MOVL(at(R9, 0), EAX)
		a.MOVQ(at(RSI, 0).Idx(RAX, 8), RAX)
		a.add(4, R9)
	} else {
		a.MOVQ(at(RSI, 0), RAX)
		a.add(8, RSI)
	}
	for lane := 0; lane < int(a.constant("lanes")); lane += 2 {
		addToTwo(a, lane)
	}
	a.add(cellBytes, RDX)
	a.DECQ(R8)
	a.JNZ(to("row"))
	a.RET()
}

// addToTwo adds the cell in X0 to two lanes, whose bins are the lowest bytes of AX.
func addToTwo(a *assembler, lane int) {
	bytes := cellBytes * int(a.constant("stride"))
	a.MOVBLZX(AL, EBX)
	a.MOVBLZX(AH, ECX)
	a.SHRQ(operand.U8(16), RAX)
	a.SHLQ(operand.U8(4), RBX)
	a.SHLQ(operand.U8(4), RCX)
	for i, bin := range []GPPhysical{RBX, RCX} {
		sum := []VecPhysical{X1, X2}[i]
		a.MOVOU(at(RDI, (lane+i)*bytes).Idx(bin, 1), sum)
		a.PADDQ(X0, sum)
		a.MOVOU(sum, at(RDI, (lane+i)*bytes).Idx(bin, 1))
	}
}

// packRows describes the loop that makes words of the bytes of eight columns, sixteen rows at a time:
// bytes of two columns are paired, then these pairs, then those. DI is the words, SI has the columns,
// R8 rows are done, R9 is how many there are.
func packRows(a *assembler) {
	a.function("packRows")
	a.args(argument{"words", RDI}, argument{"columns", RSI}, argument{"n", R9})
	a.XORQ(R8, R8)
	a.align()
	a.Label("row")
	columns := []VecPhysical{X0, X1, X2, X3, X4, X5, X6, X7}
	for lane, c := range columns {
		a.MOVQ(at(RSI, 8*lane), RAX)
		a.MOVOU(at(RAX, 0).Idx(R8, 1), c)
	}
	others := []VecPhysical{X8, X9, X10, X11, X12, X13, X14, X15}
	interleave := func(low, high func(from, into operand.Op), from, into []VecPhysical) {
		// The low halves of each pair become the first of into's, the high ones the second.
		for i := 0; i < len(from); i += 2 {
			a.MOVO(from[i], into[i])
			a.MOVO(from[i], into[i+1])
			low(from[i+1], into[i])
			high(from[i+1], into[i+1])
		}
	}
	interleave(a.PUNPCKLBW, a.PUNPCKHBW, columns, others)
	pairs := []VecPhysical{X8, X10, X12, X14, X9, X11, X13, X15}
	interleave(a.PUNPCKLWL, a.PUNPCKHWL, pairs, columns)
	// Rows 0 to 3, 4 to 7, 8 to 11 and 12 to 15, each of columns 0 to 3 and 4 to 7.
	fours := []VecPhysical{X0, X2, X1, X3, X4, X6, X5, X7}
	interleave(a.PUNPCKLLQ, a.PUNPCKHLQ, fours, others)
	for i, rows := range others {
		a.MOVOU(rows, at(RDI, 16*i))
	}
	a.SUBQ(operand.I8(-128), RDI)
	a.add(16, R8)
	a.CMPQ(R8, R9)
	a.JLT(to("row"))
	a.RET()
}
