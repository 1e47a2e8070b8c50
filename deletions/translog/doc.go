// Package translog is the transparency log of a deployment: an append-only list of small
// records (leaves) of every erasure request, of every change of its state, of what
// operators did, of what people did through the API, of every receipt, and of the digests of
// slices and checkpoints. A Merkle tree (RFC 6962, section 2.1, by
// golang.org/x/mod/sumdb/tlog) is kept over them, and its root is signed as a checkpoint in
// the note format (C2SP signed-note and tlog-checkpoint).
// Whoever has kept one signed checkpoint can tell later that nothing of before was dropped
// or rewritten.
//
// A leaf holds nothing personal: no id, no request id that somebody chose, no reason, no
// feature. What it says of targets are commitments (deletions.Commitment), which only the
// deployment can open.
//
//	leaf.go, operator.go, commitments.go, setup.go  the kinds of leaves
//	access.go                who changed something, or looked at an erasure
//	keys.go, rotate.go       the keys of a log, each introduced by the one before
//	commit.go                each digest committed to once
//	codec.go                 a leaf's bytes
//	tree.go                  the Merkle tree
//	checkpoint.go            signed checkpoints
//	proof.go                 the proof that a leaf is in the log, as receipts carry it
//	log.go, stored.go, each.go  the log in the ledger's store, written with it
//	publish.go, published.go the log in log.v1, from which a lost one is made again
//	findings.go              what a check finds
package translog
