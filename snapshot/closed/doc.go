// Package closed keeps the graph of every closed timestep in a store of its own: the graph and, once the timestep is
// settled, labels and shards, which are kept apart from the rows so that settling does not write them again.
//
//	graph.go        one store, read
//	write.go        filled, written anew, given labels and shards or another revision
//	erase.go        written anew without what goes
//	description.go  what a store holds, in numbers; the kinds of its keys
//	graphs.go       the stores of one folder, of which a few are open
//	folder.go       the names of the stores, and which there are
package closed
