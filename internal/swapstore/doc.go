// Package swapstore stores a Pebble database in a directory that can be replaced as a whole, so that
// the bytes of deleted keys really disappear.
//
// A log-structured store does not erase on Delete: the old value stays in table files, in recycled
// log files and as a key bound in the manifest, for an unbounded time. A Store therefore offers
// Rewrite, which copies the live content into a new generation, switches a pointer and unlinks the
// old files:
//
//	<dir>/CURRENT-GEN    names the current generation, replaced atomically
//	<dir>/FORMAT         the format of its keys and values, for example train-shard/1
//	<dir>/LOCK           held while the store is open
//	<dir>/g000007/       the Pebble database of generation 7
//
// Open removes every generation that the pointer does not name, so after a crash on either side of
// the switch the store has all of the old content or all of the new. Pointer "g000000" means that
// the first generation was never completed.
//
// Tables are written without compression, without shared key prefixes and in the row format, so that
// a byte-by-byte search of the files finds every key and value still on disk. In two files a record
// header, at a multiple of 32 KiB, may split a key or value: the write-ahead log and the manifest.
// Rewrite unlinks both.
//
// Any number of goroutines may read; writers wait for each other. Writers continue while a Rewriting is
// filled. A Rewrite waits for readers that started before its switch, so a function passed to Scan,
// Apply or Rewrite must not call a method that writes, nor Close. It may always read.
//
//	store.go, options.go              opening and closing a store; Pebble's options
//	read.go, lookup.go, write.go      reading and writing keys
//	many.go                           deleting many keys at once
//	rewrite.go, rewriting.go          a new generation, made while writers wait or continue
//	tables.go, touched.go             the tables of a new generation; keys written meanwhile
//	pointer.go, sweep.go              the pointer to the generation; removal of old generations
//	format.go                         the format of the content
//	held.go, files.go                 truncating unlinked files; reading files for a search
//	marked.go, sparse.go              file systems below Pebble: syncs around markers, no preallocation
//	errors.go, logger.go              ErrCorrupt and remedies; Pebble's fatal messages
package swapstore
