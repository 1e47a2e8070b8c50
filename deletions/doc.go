// Package deletions holds the parts of an erasure that need neither a broker
// nor a store of their own: what an erasure reaches (Plan), where it stands
// (Ledger), how lethe looks for bytes it no longer knows (Fingerprint,
// Scanner), and what it hands out at the end (Receipt).
//
// # What is kept of an erased record
//
// Nothing that links to it without the deployment's secret. The ledger keeps
// keyed hashes of the ids, so that a late or replayed record is dropped, and
// fingerprints of the forms in which the record could have been written, so
// that disks and topics can be searched for them for ever after. The reason of
// a request is kept as a keyed hash only. No id appears in an error text.
//
// # What a byte scan can and cannot find
//
// The scanner finds exact bytes. A copy inside compressed, encrypted or
// base64-encoded data is not exact bytes: stores are opened without
// compression, topics written without compression or scanned record by record.
// The forms that are searched, and the rule that decides which occurrences of
// an id count, are in forms.go and bounds.go.
//
// # States
//
//	received → accepted | rejected | held
//	held → accepted | rejected
//	accepted → suppressed | rejected | held
//	suppressed → rewriting → retraining → swapped → verifying → verified
//
// Every working state from accepted on may become failed, and a failed request
// goes back to the state it failed in and nowhere else. A state is durable in
// the ledger before its step begins, so that a restart repeats a step but
// never skips one.
package deletions
