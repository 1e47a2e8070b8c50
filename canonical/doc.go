// Package canonical encodes and decodes the canonical bytes of a slice or a snapshot: one value,
// one sequence of bytes, on every machine.
//
// Every message is framed as
//
//	magic (4 bytes) | format version (1 byte) | body | SHA-256 of all before (32 bytes)
//
// with little-endian integers, float32 as IEEE 754 bits and counts before sequences. A revision is
// not part of the bytes: content that was replaced by equal content has equal bytes, which makes an
// erasure verifiable.
package canonical
