// Package journal holds the decisions of the leader of a role: journal.v1, two partitions that are never compacted. A
// leader appends an entry and acts on it once it has read it back; all other processes read. The journal alone
// determines which entries are valid: those of the newest epoch of their role that began before them.
//
//	entry.go    the entries, a closed sum type, and their encoding
//	graphs.go   decisions of graphs; served.go, decisions of score
//	reader.go   which entries are valid
//	log.go      appending and reading back
//
// CONTRIBUTING.md lists what a new entry needs. From release 0.1.0 on it needs another format too.
package journal
