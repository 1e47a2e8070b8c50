// Package logistic is regularised logistic regression for two classes and
// multinomial regression for more.
//
// A model is a pure function of the rows and the options: features are
// standardised by the rows given, and the convex loss is minimised from zero
// by L-BFGS (Nocedal, "Updating Quasi-Newton Matrices with Limited Storage",
// 1980) in one goroutine. The solver is gonum's, whose vector kernels differ
// between architectures, so the last bits hold for one of them.
package logistic
