package main

import (
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// group is how many values of 32 bits a register holds.
const group = 16

// whole lets K1 mask nothing out.
func (a *assembler) whole() { a.KXNORW(K1, K1, K1) }

// tail sets K1 to the RCX (under 16) lowest bits. It takes R15.
func (a *assembler) tail() {
	a.MOVL(operand.U32(1), R15L)
	a.SHLL(CL, R15L)
	a.DECL(R15L)
	a.KMOVW(R15L, K1)
}

// begin goes on at body with the next count values or with the RCX last ones,
// masked by K1, or at done if none is left.
func (a *assembler) begin(count int, body, done string) {
	a.CMPQ(RCX, imm(count))
	a.JGE(to(body))
	a.TESTQ(RCX, RCX)
	a.JLE(to(done))
	a.tail()
}

// loop goes through RCX values, count at a time, masked by K1: all until the last
// group. The pointers go along, a value being 4 bytes.
func (a *assembler) loop(label string, count int, body func(), pointers ...Register) {
	a.Label(label)
	a.begin(count, label+"Body", label+"Done")
	a.Label(label + "Body")
	body()
	a.add(4*count, pointers...)
	a.SUBQ(imm(count), RCX)
	a.JMP(to(label))
	a.Label(label + "Done")
}

// mask masks as many of 16 values as n says, none if it is not positive, all if it
// is 16 or more. It takes RCX and RAX.
func (a *assembler) mask(n GPPhysical, k OpmaskPhysical) {
	a.XORQ(RCX, RCX)
	a.TESTQ(n, n)
	a.CMOVQGT(n, RCX)
	a.MOVQ(operand.U32(group), RAX)
	a.CMPQ(RCX, RAX)
	a.CMOVQGT(RAX, RCX)
	a.MOVL(operand.U32(1), EAX)
	a.SHLL(CL, EAX)
	a.DECL(EAX)
	a.KMOVW(EAX, k)
}
