// Package decision chooses the threshold from which a transaction is called
// illicit: the probability that is best on labelled transactions, or what a budget
// of alerts allows.
//
// A Rule is read from text, and chooses from probabilities and labels alone: a
// function of the set of pairs. After an erasure it chooses anew from those that
// are left.
package decision
