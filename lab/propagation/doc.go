// Package propagation is Correct & Smooth (Huang et al., "Combining Label
// Propagation and Simple Models Out-performs Graph Neural Networks", ICLR 2021):
// it spreads known labels over a graph to correct and smooth the posteriors of
// the other nodes (propagate.go, diffusion.go), and chooses its settings on known
// labels that it hides (choose.go, folds.go); options.go bounds them. It is for evaluation; package
// scoring says why it is not served.
package propagation
