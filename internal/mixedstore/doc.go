// Package mixedstore stores small keys in a swapstore and large values in files next to it. A file is replaced or
// unlinked as a whole, so erasing one value costs only that value: a log-structured store does not erase on Delete (see
// package swapstore), and rewriting it costs as much as everything it holds.
//
//	<dir>/             the swapstore
//	<dir>/values/      a file for each key under one of the file prefixes
//
// File names are the prefix followed by the rest of the key in hexadecimal: keys must hold nothing that a file name
// must not reveal.
//
//	mixedstore.go  the store
//	files.go       its files
package mixedstore
