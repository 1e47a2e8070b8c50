// Package receipt makes and checks receipts: signed documents that account for every class of artefact of an erasure.
//
//	receipt.go, remain.go   the content
//	check.go                checks in itself and against the ledger
//	document.go, verify.go  signatures
//	decoded.go              decoded signed content for searches
package receipt
