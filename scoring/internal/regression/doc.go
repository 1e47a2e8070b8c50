// Package regression fits logistic regressions of a few columns: what stacking
// and Platt's calibration share. Coefficients may be pulled towards any point and
// have lower bounds, and targets may lie between the classes.
//
// A fit is Newton's method with an active set, in one goroutine. Sums run in the
// order of the rows, elementary functions are those of internal/portable and no
// product is fused into a sum, so equal rows in equal order give equal bits on
// every processor. Whoever wants a function of the set of rows sorts them first.
package regression
