// Package reasons explains the score of a transaction: for every component of the ensemble the
// features and the payments that affected its logit of illicit most.
//
//   - record.go: the record of a transaction, and its encoding
//   - code.go: the codes of reasons, and names of features
//   - payments.go: contributions of graph rows, by the payments that lead to them
//   - explain.go: a record built from the models' attributions
//
// The package is pure. A record names its transaction and the other ends of its payments: the
// publisher must leave out erased ones.
package reasons
