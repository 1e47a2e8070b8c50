// Package role says what a role of the pipeline is to those who run it: a name,
// work to do until it is stopped, stores to close, and what it knows.
//
//	role.go    the interface
//	status.go  what roles know, and how it is put together
package role
