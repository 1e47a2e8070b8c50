// Package swapstore keeps a Pebble database in a directory that can be
// replaced as a whole, so that forgetting a key means its bytes are gone.
//
// A log-structured store does not erase on Delete: the old value stays in
// table files, in recycled log files and as a key bound in the manifest, for a
// time nobody can bound. A Store therefore offers Rewrite, which copies what
// shall live into a new generation, switches a pointer and unlinks the old
// files:
//
//	<dir>/CURRENT-GEN    names the generation in use, replaced atomically
//	<dir>/FORMAT         what its keys and values mean, as in train-shard/1
//	<dir>/LOCK           held while the store is open
//	<dir>/g000007/       the Pebble database of generation 7
//
// Open removes every generation that the pointer does not name, so a crash on
// either side of the switch leaves all of the old content or all of the new.
// Pointer "g000000" means that the first generation was never finished.
//
// A generation that was made by Fill is a folder of tables, <dir>/g000001/alone/, until it is
// opened: then a database is made of them, as generation 2.
//
// Tables are written without compression and without shared key prefixes, and
// in the row format, so that searching the files byte by byte finds every key
// and value that is still there. Two places may cut one in two by a record
// header, at a multiple of 32 KiB: the write-ahead log and the manifest. Both
// are among the files that Rewrite unlinks.
//
// Any number of goroutines may read; writers wait for each other. What ApplyAhead and ApplyUnsynced write is applied
// while their caller goes on: only who reads keys with the same first byte waits for it. While a Rewriting is filled
// writers go on too. A Rewrite
// waits for the readers that started before it switched, so no function given
// to Scan, Apply or Rewrite may call a method that writes, nor Close. Reading
// is always allowed.
//
//	store.go, options.go              a store opened and closed; Pebble's options
//	read.go, lookup.go, write.go      reading and writing keys
//	ahead.go                          changes that are applied while their writer goes on
//	many.go                           deleting many keys at once
//	rewrite.go, rewriting.go          a new generation, made while writers wait or go on
//	tables.go, entries.go             the tables it is made of
//	alone.go                          one that is tables alone, and a database made of it
//	pointer.go, sweep.go              the pointer to it, old ones removed
//	format.go                         the format of the content
//	held.go, files.go                 files emptied when they are unlinked, and read for a search
//	marked.go, sparse.go, later.go    file systems below Pebble: manifests with a marker, no room reserved, a new
//	                                  folder synchronised at once
//	errors.go, logger.go              damage told as ErrCorrupt, and what an owner says to do about it; Pebble's
//	                                  last messages
package swapstore
