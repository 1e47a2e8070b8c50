// Package kernels holds the float32 loops that training and scoring spend their
// time in, in several sets (Set).
//
// A set runs on the calling goroutine only and sums in an order that depends on
// nothing but the shapes, so that the same numbers come out whatever the number
// of workers. Bits may differ between sets: checkpoints and receipts name the
// set that made them. The set fma, the default, has loops in assembly for
// AVX-512 and for AVX2 that compute the bits of its loops in plain Go.
//
// The files: every kind of loop has an interface and plain Go in a file of its own
// (products.go, rows.go, elements.go, activations.go, heads.go, columns.go, draws.go,
// adam.go), kernels.go and named.go make sets of them; gemm.go and tiles.go make
// products of tiles; *_amd64.go call the assembly and check what nothing checks
// there; *_amd64.s is generated from the descriptions in lab/asm.
package kernels

//go:generate go run lethe/lab/asm
