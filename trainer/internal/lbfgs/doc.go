// Package lbfgs minimises smooth functions by limited-memory BFGS (Nocedal, "Updating
// Quasi-Newton Matrices with Limited Storage", 1980; Nocedal and Wright, "Numerical
// Optimization", 2006, algorithm 7.4), in one goroutine.
//
// Every sum has a fixed order and no product is fused with it, so that equal functions give equal
// bits on every processor. Steps and orders are those of gonum's optimize.LBFGS v0.17 with its
// defaults on amd64, which preserves the bytes of models fitted with it (docs/decisions/0042).
package lbfgs
