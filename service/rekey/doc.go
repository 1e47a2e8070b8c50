// Package rekey rebuilds a stopped data directory under another secret, and replaces the original
// by it.
//
// Pseudonyms determine the order of nodes and all random draws, so nothing that contains them can
// be reused: graphs, slices, models and the roles' own records are rebuilt from the source topics.
// Data that cannot be rebuilt is copied: the source topics, predictions, dead letters, receipts,
// the transparency log and the ledger, whose hashes stay those of the secret that the deployment
// was created with (lethe.Secret.Ledger).
//
//	plan.go      what would be done, or why it is rejected; nothing is changed
//	note.go      the progress, in the new directory: an interrupted rotation is resumed
//	prepare.go   the new directory: keys, ledger, log, and score's data about erasures
//	topics.go    the copied broker's log: records of lethe's own topics are removed
//	build.go     an isolated service rebuilds the rest, until its state matches
//	rotate.go    the whole rotation, and the swap
//
// Until the swap the original directory is only read. Afterwards it is kept next to the new one,
// and contains pseudonyms under the previous secret: the operator has to destroy it.
package rekey
