// Package deletions has the ledger of erasure requests (State, Entry, Ledger), their published statuses (Status) and
// the acknowledgements of the roles (Ack).
//
//	scan         searches for bytes without knowing them
//	receipt      signed receipts
//	translog     the transparency log
//	backups      backups, and repeating erasures after a restore
//	coordinator  carries out requests
//
// # Retained data of an erased record
//
// Nothing that links to it without the deployment's secret: keyed hashes of ids, to drop the record if it comes again,
// fingerprints of its possible forms, to search for it at any time, and a keyed hash of the reason. Errors name no id.
//
// # States
//
//	received → accepted | rejected
//	accepted → suppressed → rewriting → retraining → swapped → erased → verified
//	received | accepted | suppressed → held → accepted
//	received | held | accepted | suppressed → cancelled
//	accepted … erased → rejected, only after a restore
//
// From rewriting to erased, the requests of a batch move together, in one write. From accepted on, a step may fail, and
// a retry goes back to the state that failed. A state is durable before its step begins: a restart repeats a step and
// never skips one.
package deletions
