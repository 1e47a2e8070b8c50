// Package index tells where every transaction of the history is and which content it has. Entries are in the store of
// staging. To read them all takes as long as the history is long: filters in memory answer most questions.
//
//	entry.go     an entry and its keys
//	index.go     who is not known at all
//	contents.go  which contents nobody has; who has one
package index
