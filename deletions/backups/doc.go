// Package backups has the registry of backups, which receipts name, and what follows a restore.
//
// A restored backup holds what was erased since it was made. The ledger and the transparency log stay the newest ones,
// so that erased targets are suppressed from the first record on; everything of them in the backup is erased again by
// ordinary requests.
package backups
