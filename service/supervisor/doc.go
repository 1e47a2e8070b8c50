// Package supervisor starts the modules of a process in the order of their dependencies, runs them
// concurrently and stops them in reverse: a module stops once everything that needs it has stopped.
// It is independent of what the modules do.
//
//	module.go      the module interface and its states
//	supervisor.go  opening and closing
//	run.go         running and stopping
package supervisor
