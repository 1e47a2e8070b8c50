// Package backups has the registry of backups, which receipts name, and the steps after a restore.
//
// A restored backup holds data that was erased since it was made. The ledger and the transparency log stay the newest
// ones, so that erased targets are suppressed from the first record on; all their data in the backup is erased again
// by ordinary requests.
package backups
