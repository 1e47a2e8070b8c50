package main

import (
	"fmt"
	"go/constant"
	"go/types"
	"os"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"golang.org/x/tools/go/packages"
)

// assembler emits the functions of one file: instructions, arguments, constants of
// the package that they are for and loops over groups. What only some kernels share is a function
// beside them. Its first failure about that package panics: the descriptions are
// wrong then.
type assembler struct {
	*build.Context
	of *types.Package
}

func newAssembler(of *types.Package) *assembler {
	return &assembler{Context: build.NewContext(), of: of}
}

// load reads a package as it is on amd64, whatever this machine is.
func load(folder string) (*types.Package, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
		packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo
	found, err := packages.Load(&packages.Config{Mode: mode, Dir: folder, Env: append(os.Environ(), "GOARCH=amd64")}, ".")
	if err != nil {
		return nil, err
	}
	for _, problem := range found[0].Errors {
		return nil, problem
	}
	return found[0].Types, nil
}

// object looks a name of the package up.
func (a *assembler) object(name string) types.Object {
	o := a.of.Scope().Lookup(name)
	if o == nil {
		panic(fmt.Sprintf("package %s has no %s", a.of.Name(), name))
	}
	return o
}

// constant returns the value of a constant of the package.
func (a *assembler) constant(name string) uint64 {
	v, exact := constant.Uint64Val(a.object(name).(*types.Const).Val())
	if !exact {
		panic(fmt.Sprintf("constant %s is no 64-bit number", name))
	}
	return v
}

// size returns the bytes of a value of a type of the package.
func (a *assembler) size(name string) int { return int(gotypes.Sizes.Sizeof(a.object(name).Type())) }

// function begins the body of a function that the package declares.
func (a *assembler) function(name string, comments ...string) {
	signature, err := gotypes.LookupSignature(a.of, name)
	if err != nil {
		panic(err)
	}
	a.Function(name)
	a.Signature(signature)
	a.Attributes(attr.NOSPLIT)
	if len(comments) > 0 {
		a.Comment(comments...)
	}
}

// ret ends a function.
func (a *assembler) ret() {
	a.VZEROUPPER()
	a.RET()
}

// args loads arguments into registers, by name and register in turn.
func (a *assembler) args(of ...argument) {
	for _, x := range of {
		a.Load(a.Param(x.name), x.to)
	}
}

// argument is where an argument, or a field of one, goes.
type argument struct {
	name string
	to   Register
}

// fields loads fields of a struct into registers.
func (a *assembler) fields(of gotypes.Component, in ...argument) {
	for _, x := range in {
		a.Load(field(of, x.name), x.to)
	}
}

// field is a field of a struct: of a slice, the pointer to its values.
func field(of gotypes.Component, name string) gotypes.Component {
	f := of.Field(name)
	if base := f.Base(); resolves(base) {
		return base
	}
	return f
}

func resolves(c gotypes.Component) bool {
	_, err := c.Resolve()
	return err == nil
}

// pointed loads a pointer to a struct into a register and returns the struct.
func (a *assembler) pointed(name string, to Register) gotypes.Component {
	a.Load(a.Param(name), to)
	return a.Param(name).Dereference(to)
}

// address is where a component lies.
func address(c gotypes.Component) operand.Mem {
	basic, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return basic.Addr
}

// result is where the function's result goes.
func (a *assembler) result() operand.Mem { return address(a.ReturnIndex(0)) }

// align lets a loop begin at a line of the instruction cache, of 64 bytes.
func (a *assembler) align() {
	a.Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []operand.Op{operand.Imm(64)}})
}

// data begins values that are part of the program.
func (a *assembler) data(name string) operand.Mem {
	m := a.StaticGlobal(name)
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	return m
}

// at is memory at a register plus bytes.
func at(base Register, bytes int) operand.Mem { return operand.Mem{Base: base, Disp: bytes} }

// to names the label that a jump leads to.
func to(label string) operand.LabelRef { return operand.LabelRef(label) }

// imm is a small number in an instruction.
func imm(n int) operand.Constant {
	if n < 128 {
		return operand.U8(n)
	}
	return operand.U32(n)
}

// four stores 4·from. To avo an address has a base, so LEAQ (from*4) is none.
func (a *assembler) four(from, result Register) {
	a.MOVQ(from, result)
	a.SHLQ(operand.U8(2), result)
}

// zero clears registers of 512 bits.
func (a *assembler) zero(registers ...VecPhysical) {
	for _, z := range registers {
		a.VPXORD(z, z, z)
	}
}

// spread sets all 32-bit values of a register to the bits, by way of a general one.
func (a *assembler) spread(bits uint64, by GPPhysical, z VecPhysical) {
	a.MOVL(operand.U32(bits), by.As32())
	a.VPBROADCASTD(by.As32(), z)
}

// add adds bytes to pointers.
func (a *assembler) add(bytes int, pointers ...Register) {
	for _, p := range pointers {
		a.ADDQ(imm(bytes), p)
	}
}

// each runs a description for four registers in a row, 64 bytes apart in memory.
func each(from VecPhysical, describe func(z VecPhysical, bytes int)) {
	all := vectors()
	for i := range 4 {
		describe(all[int(from.PhysicalIndex())+i], 64*i)
	}
}

// vectors lists the registers of 512 bits.
func vectors() []VecPhysical {
	return []VecPhysical{
		Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
		Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31,
	}
}
