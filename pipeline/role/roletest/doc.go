// Package roletest provides topics and stores in memory for tests of roles, in place of a broker and Pebble.
//
//	bus.go      topics
//	tail.go     consuming them
//	compact.go  compaction, as a broker's cleaner does it
//	session.go  running a role step by step
//	store.go    a store
package roletest
