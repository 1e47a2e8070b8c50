// Package guard stands before everything that a process serves over HTTP and decides who gets in:
// under which names it may be asked, by whom, how often and with how much. It knows nothing of
// what is served.
//
//	guard.go    the checks of a request, in their order
//	headers.go  what every answer says to browsers
//	rights.go   roles of people, and what they may do
//	tokens.go   the file of hashes of tokens
//	session.go  browsers that have shown a token
//	slow.go     bodies that come slowly
//	rate.go     how many requests a client may make
package guard
