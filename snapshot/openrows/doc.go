// Package openrows stores the rows of transactions whose timestep is open: individually in a store or, if many
// rows of a timestep arrive together, in a file next to it.
//
// A row is written once on arrival and read once when its timestep closes. A store would copy it to a log and to a
// memory table and sort it there, which takes a third of the time of processing it. A file takes one copy. Rows
// that arrive individually, or are changed, go to the store.
//
// In the store
//
//	'r' timestep pseudonym    a row
//	'd' timestep number       a file: number of rows, length, checksum
//	'j' timestep pseudonym    a file may have an outdated row of this transaction
//
// and below its folder
//
//	<dir>/rows/000007         the rows of file 7, by pseudonym, and the start of each
//
// A transaction has a row in at most one file. A row in the store replaces it.
//
// A file is durable before the store names it, and is unlinked once it is durable that the store no longer names
// it. Open removes what a crash leaves behind. Before deleting rows from the store by key, call TakeIn, which
// moves the rows of files into the store.
//
// One goroutine owns Rows, except where a method allows more.
//
//	rows.go      reads the rows of a timestep
//	takein.go    moves files into the store
//	batch.go     rows that arrive together
//	folder.go    creates, finds and removes files
//	file.go      writes a file, and finds a row in it
//	reader.go    reads a file; merged.go merges several
package openrows
