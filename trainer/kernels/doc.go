// Package kernels holds the float32 loops that training and scoring spend their
// time in, in several sets of one interface.
//
// A set runs on the calling goroutine only and sums in an order that depends on
// nothing but the shapes, so that the same numbers come out whatever the number
// of workers. Bits may differ between sets: checkpoints and receipts name the
// set that made them. The set fma, the default, has loops in assembly for
// AVX-512 and for AVX2 that compute the bits of its loops in plain Go.
package kernels
