// Package regression fits logistic regressions of a few columns, for stacking and Platt's
// calibration. Coefficients may be regularised towards any point and have lower bounds, and targets
// may lie between the classes.
//
// A fit is Newton's method with an active set, in one goroutine. Sums run in the order of the rows,
// elementary functions are those of internal/portable and no product is fused into a sum, so equal
// rows in equal order give equal bits on every processor. A caller that needs independence of the
// row order must sort the rows first.
package regression
