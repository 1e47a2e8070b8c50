// Package backups is what lethe knows of copies of its data directory: the registry of
// those that were made, which stands beside the ledger and which receipts name, and what is
// done once when one was put back.
//
// A backup that is put back holds what was erased since it was made. The ledger and the
// transparency log are not those of the backup but the newest, so that every erased target
// is suppressed from the first record on; then all that the backup holds of one is asked for
// again, as requests of lethe's own, and goes the way of every request.
//
//	registry.go   the backups that were made, until when they are kept
//	restored.go   the note that a backup was put back, and what becomes of requests under way
//	again.go      what the backup holds of what was erased, as requests
package backups
