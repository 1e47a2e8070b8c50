// Package mixedstore is a store of small keys, a swapstore, with large values in files
// next to it. A file is replaced or unlinked as a whole, so that the
// store forgets one value at the cost of that value: a log-structured store does
// not erase on Delete (see package swapstore), and rewriting it costs as much
// as all that it holds.
//
//	<dir>/             the swapstore
//	<dir>/values/      a file for each key under one of the file prefixes
//
// File names are keys in hexadecimal behind their prefix: keys must hold nothing
// that a file name must not.
//
//	mixedstore.go  the store
//	files.go       its files
package mixedstore
