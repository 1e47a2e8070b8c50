// Package loops holds the float32 loops that only the laboratory's networks need, beside the trainer's kernels:
// attention with several heads, keyed draws, and activations. There is plain Go, and assembly for AVX-512 that computes
// its bits, generated from the descriptions in lab/asm.
package loops
