// Package rekey makes a second data directory of a stopped one, under another secret.
//
// Pseudonyms fix the order of nodes and every draw, so nothing that holds them can be carried over:
// graphs, slices, models and what roles tell each other are made again of the source topics, by
// lethe run on the new directory. What cannot be made again is copied: the source topics, predictions,
// dead letters, receipts, the transparency log and the ledger, whose hashes stay those of the secret
// that the deployment was begun with (lethe.Secret.Ledger).
//
//	plan.go      what would be done, or why it is refused; nothing is changed
//	rotate.go    the whole; what was cut off is removed
//	prepare.go   the new directory: keys, ledger, log, what score knows of erasures
//	topics.go    the copied broker's log: what lethe's own topics said is removed
//	reseal.go    topics that go on as they are: what was forged there is put right
//
// The directory before is only read. It holds pseudonyms under the secret of before: destroying it is
// the operator's.
package rekey
