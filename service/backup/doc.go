// Package backup makes copies of a stopped data directory and restores them, without bringing back
// data that was erased meanwhile.
//
//	manifest.go   the signed description of a backup
//	archive.go    the file: a tar archive whose last entry is the manifest
//	folder.go     the data directory: the files to copy, and the locks meanwhile
//	create.go     a backup is registered in the ledger's directory, then written
//	keys.go       the keys that may have signed it
//	restore.go    checking, unpacking, and the transfer of the newest ledger
//	finish.go     erasures since the backup are repeated before the data is served
//
// With an embedded broker a backup is the whole data directory. With external brokers it contains
// only keys, identity and receipts: the topics hold the rest, and the roles' stores are rebuilt
// from there.
package backup
