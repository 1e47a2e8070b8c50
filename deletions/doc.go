// Package deletions holds what is recorded and said of an erasure: where it
// stands (State, Entry, Ledger), what the topics tell of it (Status), and what
// the roles answer (Ack).
//
//	scan         how lethe looks for bytes that it no longer knows
//	receipt      what it hands out at the end
//	translog     what it says to everybody: the transparency log
//	backups      what is known of backups, and what is erased again when one is put back
//
// # What is kept of an erased record
//
// Nothing that links to it without the deployment's secret. The ledger keeps
// keyed hashes of the ids, so that a late or replayed record is dropped, and
// fingerprints of the forms in which the record could have been written, so
// that disks and topics can be searched for them at any later time. The reason of
// a request is kept as a keyed hash only. No id appears in an error text.
//
// # States
//
//	received → accepted | rejected
//	accepted → suppressed → rewriting → retraining → swapped → erased → verified
//	received | accepted | suppressed → held → accepted
//	received | held | accepted | suppressed → cancelled
//	accepted … erased → rejected, only when a backup was put back
//
// From rewriting to erased, requests of one scope move together (Batch): several at a
// time, in one write.
//
// Every working state from accepted on may become failed, and a failed request
// goes back to the state it failed in and nowhere else. A state is durable in
// the ledger before its step begins, so that a restart repeats a step but
// never skips one.
//
//	states.go, moves.go               the states and what leads from one to the next
//	entry.go, entrycodec.go           what the ledger keeps of a request, and its bytes
//	ledger.go, queries.go             the ledger: requests received, listed, counted
//	batch.go, elapsed.go, outcome.go  requests together, how long they took, what became of each target
//	requestid.go                      the names that requests may have
//	digest.go, commitment.go          the digest of a request's content, commitments to its targets
//	remains.go                        what an erasure leaves by its scope, and does not search
//	status.go                         what the topic tells: statuses and acknowledgements
package deletions
