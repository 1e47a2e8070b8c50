// Package rekey makes a stopped data directory anew under another secret, and puts it in the place
// of the one before.
//
// Pseudonyms fix the order of nodes and every draw, so nothing that holds them can be carried over:
// graphs, slices, models and what roles tell each other are made again of the source topics. What
// cannot be made again is copied: the source topics, predictions, dead letters, receipts, the
// transparency log and the ledger, whose hashes stay those of the secret that the deployment was
// begun with (lethe.Secret.Ledger).
//
//	plan.go      what would be done, or why it is refused; nothing is changed
//	note.go      how far it is, in the new directory: what was cut off goes on
//	prepare.go   the new directory: keys, ledger, log, what score knows of erasures
//	topics.go    the copied broker's log: what lethe's own topics said is removed
//	build.go     a service that nobody else reaches makes the rest, until it knows as much
//	rotate.go    the whole, and the swap
//
// Until the swap the directory before is only read. It is kept beside the new one, and holds
// pseudonyms under the secret of before: destroying it is the operator's.
package rekey
