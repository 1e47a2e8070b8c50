// Package journal is what the processes of one role have to agree on: journal.v1, two partitions that are never
// compacted. A leader decides, appends an entry, and acts on it once it has read it back; everybody else reads. Which
// entries count follows from the journal alone: those of the newest epoch of their role that had begun before them.
//
//	entry.go    the entries, a closed sum, and their one encoding
//	graphs.go   what the stores of graphs are a function of; served.go, what score serves and has scored
//	reader.go   which entries count
//	log.go      appending and reading back
package journal
