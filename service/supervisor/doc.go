// Package supervisor starts the modules of a process in the order of their
// needs, runs them side by side and stops them in reverse: a module stops once
// everything that needs it has stopped. It knows nothing of what the modules do.
//
//	module.go      what a module is, its states
//	supervisor.go  opening and closing
//	run.go         running and stopping
package supervisor
