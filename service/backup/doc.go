// Package backup makes copies of a stopped data directory and puts them back, so that
// nothing comes back that was erased meanwhile.
//
//	manifest.go   what a backup says of itself, signed
//	archive.go    the file: a tar archive whose last entry is the manifest
//	folder.go     the data directory: what is copied, and that nobody uses it meanwhile
//	create.go     a backup is registered beside the ledger, then written
//	keys.go       who must have signed it
//	restore.go    checked, unpacked, and given the newest ledger
//	finish.go     what was erased since is erased again before anybody is served
//
// With an embedded broker a backup is the whole data directory. With brokers of others it is
// keys, identity and receipts alone: the topics hold all the rest, and what roles keep is made
// again from there.
package backup
