// Package index locates every transaction of the history and stores a hash of its content. The entries are in the
// store of staging. Reading all of them takes time in proportion to the history, so filters in memory answer most
// questions.
//
//	entry.go     an entry and its keys
//	index.go     a filter of known transactions
//	contents.go  filters of known and repeated contents; which transactions have one
package index
