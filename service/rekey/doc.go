// Package rekey copies a stopped data directory to a new one under another secret.
//
// Pseudonyms determine the order of nodes and every random draw, so nothing that contains them can be copied: lethe
// run on the new directory rebuilds graphs, slices, models and internal topics from the source topics. What cannot be
// rebuilt is copied: source topics, predictions, reasons, dead letters, receipts, the transparency log and the ledger,
// whose hashes stay those of the deployment's first secret (lethe.Secret.Ledger).
//
//	plan.go      the plan, or why it is refused; changes nothing
//	rotate.go    the rotation; removes an interrupted one
//	prepare.go   the new directory: keys, ledger, log, score's state of erasures
//	topics.go    the copied broker's log: removes records of lethe's own topics
//	reseal.go    copied topics: corrects forged records
//
// The old directory is only read. It contains pseudonyms under the old secret: the operator must destroy it.
package rekey
