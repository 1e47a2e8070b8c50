// Package kill ends real lethe processes with SIGKILL, at random points of a
// replay and at every step of an erasure, starts them again and compares what
// they come to with what an undisturbed process came to.
//
//	replay_test.go   kills during a replay
//	erasure_test.go  kills during erasures
//	ledger_test.go   the crash points that a random kill hardly ever meets
package kill
