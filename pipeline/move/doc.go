// Package move takes the control records of a deployment that an earlier version began from
// erasure-status.v1, which users read, to control.v1.
//
//	left.go    what is left, and what is there
//	move.go    how it is moved
//	alone.go   one process does it, the others wait
//
// A crash on the way leaves either all of it to be done again, or what was moved to be deleted
// where it stood (see All). Nothing else is written to control.v1 before Begin has returned.
package move
