// Package trees is histogram-based gradient boosting (Friedman, "Greedy
// Function Approximation", 2001; the histograms as in Ke et al., "LightGBM",
// NeurIPS 2017) for two and more classes with log-loss.
//
// A model is a pure function of the rows and the options. Gradients are summed
// as integers, which commute: neither the order of the rows nor the number of
// threads changes a bit of the result. There is no sampling of rows; sampling of
// features is keyed.
package trees
