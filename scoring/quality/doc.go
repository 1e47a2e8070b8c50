// Package quality measures predictions against labels: confusion matrices, AUC
// and average precision with ties, summaries of two or more classes, and tallies
// over timesteps. Every measure is 0 where its denominator is 0, as in
// scikit-learn, but for AUC and average precision, which are undefined there.
package quality
