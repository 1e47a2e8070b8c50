// Package closed stores the graph of every closed timestep in a store of its own. Once the timestep is settled,
// labels and shards are stored apart from the rows, so that settling does not rewrite the rows.
//
//	graph.go        reads a store
//	write.go        fills and rewrites a store; sets labels, shards and revision
//	erase.go        rewrites a store without erased records
//	description.go  counts of a store; kinds of its keys
//	graphs.go       the stores of one folder, a few of them open
//	folder.go       names and listing of the stores
package closed
