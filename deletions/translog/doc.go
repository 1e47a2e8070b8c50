// Package translog is the transparency log: an append-only list of leaves for every request, change of state, action of
// an operator, access through the API, receipt, and digest of a slice or model. A Merkle tree over them (RFC 6962,
// section 2.1, golang.org/x/mod/sumdb/tlog) has its root signed as a checkpoint (C2SP signed-note, tlog-checkpoint).
// One checkpoint kept elsewhere shows whether anything earlier was dropped or changed.
//
// Leaves are not personal: targets are commitments (deletions.Commitment), which only the deployment can open.
package translog
