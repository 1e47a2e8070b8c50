// Package openrows keeps the rows of transactions whose timestep is open: one by one in a store, or, those of a
// timestep that came together in large numbers, in a file beside it.
//
// A row is written once when it comes and read once when its timestep closes. Through a store it would be copied to a
// log and to a memory table, and sorted there among the others, which takes a third of the time of taking it. In a file
// it is copied once. What comes one by one, or is changed, goes to the store all the same.
//
// In the store
//
//	'r' timestep pseudonym    a row
//	'd' timestep number       a file: how many rows, how long, checksum
//	'j' timestep pseudonym    a file may have a row that is not this transaction's last
//
// and below its folder
//
//	<dir>/rows/000007         the rows of file 7, by pseudonym, and where each begins
//
// A transaction has a row in one file at most. One in the store stands instead of it.
//
// A file is durable before the store names it, and is unlinked once it is durable that the store does not name it any
// more. What a sudden stop leaves beside that, Open removes. Whoever takes rows out of the store by their keys has
// those of files taken into the store before, by TakeIn.
//
// One goroutine owns Rows, but for what is said of a method.
//
//	rows.go      rows of a timestep read, wherever they are
//	takein.go    files taken into the store
//	batch.go     rows that come together
//	folder.go    the files: made, found, removed
//	file.go      one file written, and a row of it found
//	reader.go    one file read; merged.go several read as one
package openrows
