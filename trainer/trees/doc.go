// Package trees fits ensembles of decision trees to labelled rows by histograms: gradient boosting (Friedman, "Greedy
// Function Approximation", 2001; with second derivatives as in Chen and Guestrin, "XGBoost", KDD 2016; by histograms
// and leaf by leaf as in Ke et al., "LightGBM", NeurIPS 2017) with log-loss, for two and more classes.
//
// A model is a pure function of the set of rows, their keys and the configuration. Derivatives are summed as integers,
// which commute: neither the order of the rows nor the number of threads changes the result. Every draw is keyed, that
// of a row by the row's own key: a fit without a row is byte for byte the same as if the row had never existed. All
// processors give the same bits.
//
// NaN is a missing value. Every split learns a side for rows that miss its feature; if no row of the fit did, they
// go to the side of 0.
//
// Fit uses one thread and stores the rows a second time as one byte per value.
//
//	config*.go               the configuration and its bounds
//	boost.go, booster.go     Fit and Extend; the rounds
//	sample.go, bins.go       the rows of a round; features as bin numbers (order.go sorts them), eight a word
//	histogram*.go, sums.go   sums per bin, in fixed point; *.s is generated from the descriptions in lab/asm
//	grow.go, search.go       a tree grown leaf by leaf, the best leaf first
//	split.go                 the best split of a leaf
//	leaves.go, tree.go       values of leaves; the stored tree
//	model.go, codec.go       the fitted model and its bytes
//	predict.go, nodes.go     scores of rows; exported nodes
package trees
