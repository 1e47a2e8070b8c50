// Package kernels holds the float32 loops that dominate training and scoring, in several sets (Set).
//
// A set runs only on the calling goroutine, and its order of summation depends only on the shapes,
// so results do not depend on the number of workers. Bits may differ between sets: checkpoints and
// receipts name the set that made them. The set fma, the default, has loops in assembly for AVX-512
// and AVX2 that compute the bits of its loops in plain Go.
//
// The files: every kind of loop has an interface and plain Go in a file of its own (products.go,
// rows.go, elements.go, activations.go, columns.go, adam.go); kernels.go and
// named.go combine them into sets; gemm.go and tiles.go compute products by tiles; *_amd64.go call
// the assembly and check lengths, which the assembly does not; *_amd64.s is generated from the
// descriptions in lab/asm.
package kernels

//go:generate go run lethe/lab/asm
