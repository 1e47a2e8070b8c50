// Package reasons says why a transaction has the score that it has: of every component of
// the ensemble the features and the payments that moved its logit of illicit most.
//
//   - record.go: the record of a transaction, and its JSON
//   - code.go: the codes of reasons, and names of features
//   - payments.go: what rows of the graph add, by the payments that lead to them
//   - explain.go: a record made of what the models' attributions say
//
// The package is pure. A record names its transaction and the other ends of payments of
// its: whoever publishes it leaves out what is erased.
package reasons
