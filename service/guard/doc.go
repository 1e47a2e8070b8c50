// Package guard controls access to everything that a process serves over HTTP: allowed host names,
// authentication, rate and size limits. It is independent of the served content.
//
//	guard.go    the checks of a request, in their order
//	headers.go  security headers of every response
//	rights.go   roles of people, and their rights
//	tokens.go   the file of token hashes
//	session.go  sessions of browsers that have presented a token
//	slow.go     a time limit for request bodies
//	rate.go     the rate limit per client
package guard
