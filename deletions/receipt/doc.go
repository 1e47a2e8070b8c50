// Package receipt is what lethe hands out at the end of an erasure: a signed
// document that accounts for every class of artefact, and the check that anyone
// can make of it.
//
//	receipt.go               what a receipt says, made of a ledger entry
//	artefacts.go, remain.go  the classes of artefacts; what an erasure does not undo
//	check.go, compare.go     a receipt checked in itself, and against the ledger
//	document.go              the signed document
//	said.go                  what signed receipts say, for searches
//	verify.go                its check under keys that are known
package receipt
