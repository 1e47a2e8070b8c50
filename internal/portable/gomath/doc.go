// Package gomath has functions of Go's package math with their amd64 (FMA) results, bit for bit,
// on every processor.
//
// Package math has assembly on some architectures, with different last bits, and elsewhere the
// compiler may fuse products into sums. Here every product is rounded before it is added, or
// fused by math.FMA, which is exact everywhere. The generator's data, random normal numbers and
// annealing were made with package math on amd64; these functions preserve their bytes. Code
// without such a constraint should use package portable.
//
// The algorithms are those of Go's package math: logarithms after FreeBSD's msun, sine and cosine
// after Cephes, the exponential after SLEEF.
package gomath
