// Package roletest is for tests of roles: topics and stores in memory that stand
// in for a broker and Pebble.
//
//	bus.go    topics
//	tail.go   following them
//	compact.go  leaving what a broker's cleaner leaves
//	store.go  a store
package roletest
