// Package gomath has functions of Go's package math with the bits that they have on
// amd64 with FMA instructions, on every processor.
//
// Package math itself has assembly on some architectures, with other last bits, and
// where there is none the compiler may fuse products into sums. Here every product is
// rounded before it is added, or fused by math.FMA, which is exact everywhere. The
// generator's data, random normal numbers and annealing were made with package math
// on amd64; these functions keep their bytes. What needs no old bytes takes package
// portable's.
//
// The algorithms are those of Go's package math: logarithms after FreeBSD's msun, sine
// and cosine after Cephes, the exponential after SLEEF.
package gomath
