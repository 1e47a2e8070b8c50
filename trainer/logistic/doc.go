// Package logistic is regularised logistic regression for two classes and
// multinomial regression for more.
//
// A model is a pure function of the rows and the options: features are standardised by the given
// rows, and the convex loss is minimised from zero by L-BFGS in one goroutine (package lbfgs).
// Its bits are the same on every processor: the loops for AVX2 and AVX-512 compute the bits of
// plain Go (matrix*.go; the assembly is generated from the descriptions in lab/asm).
package logistic
