// Package deletions holds what is recorded and said of an erasure: where it
// stands (State, Entry, Ledger), what the topics tell of it (Status), and what
// the roles answer (Ack).
//
//	scan         how lethe looks for bytes that it no longer knows
//	receipt      what it hands out at the end
//
// # What is kept of an erased record
//
// Nothing that links to it without the deployment's secret. The ledger keeps
// keyed hashes of the ids, so that a late or replayed record is dropped, and
// fingerprints of the forms in which the record could have been written, so
// that disks and topics can be searched for them for ever after. The reason of
// a request is kept as a keyed hash only. No id appears in an error text.
//
// # States
//
//	received → accepted | rejected
//	accepted → suppressed → rewriting → retraining → swapped → verifying → verified
//
// Every working state from accepted on may become failed, and a failed request
// goes back to the state it failed in and nowhere else. A state is durable in
// the ledger before its step begins, so that a restart repeats a step but
// never skips one.
package deletions
