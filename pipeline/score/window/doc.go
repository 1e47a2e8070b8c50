// Package window holds the transactions and payments of timesteps that are not closed yet, in memory, and selects
// transactions for provisional scores.
//
// A transaction is queued when it arrives or is replaced, when one of its payments has both ends, and when a neighbour
// arrives, is replaced or is removed. Next returns a pass: queued transactions of one timestep, with the graph needed
// to score them. First scores have priority over rescoring: under load only rescoring is delayed, and a transaction
// queued several times is scored once.
//
// Nothing is stored on disk. Closed timesteps and suppressed transactions are removed at once. The window accepts some
// records that graphs rejects: Close returns the transactions that are missing from their graph.
//
//   - window.go: adding and removing; redact.go: features that become 0
//   - place.go: one transaction, or one end of a payment
//   - pass.go: the transactions to score next, and their graph
package window
