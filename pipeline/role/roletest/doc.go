// Package roletest is for tests of roles: topics and stores in memory that stand
// in for a broker and Pebble.
//
//	bus.go    topics
//	tail.go   following them
//	compact.go  leaving what a broker's cleaner leaves
//	session.go feeding a role one thing at a time
//	store.go  a store
package roletest
