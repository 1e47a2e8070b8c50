// Command asm writes the assembly of package kernels, and that of packages trees and
// logistic. A kernel is described once, in Go, with github.com/mmcloughlin/avo; what
// kernels share (exponentials, tails, rows of a tile) is a function here. `go generate
// ./trainer/kernels` runs it, and its test compares what it writes with the files that
// are committed.
//
// Registers are named, not allocated, so that a description says which machine
// code comes out. Offsets of fields and constants are looked up in the package:
// generate again when a struct that assembly reads changes.
//
// Files: main.go lists what is generated, assembler.go has operands and arguments,
// groups.go the loops over 16 values and their masks, and every other file the
// kernels of the assembly file that bears its name.
package main
