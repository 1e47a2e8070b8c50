// Package decision chooses the threshold from which a transaction is classified as illicit: the
// best one on labelled transactions, or the one that fits a budget of alerts.
//
// A Rule is parsed from text, and chooses from probabilities and labels only: the result depends
// only on the set of pairs. After an erasure it chooses again from the remaining ones.
package decision
