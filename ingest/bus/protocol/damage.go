package protocol

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// DamageError is a range of a partition's log that cannot be read. It wraps ErrCorrupt.
type DamageError struct {
	// From is the first offset that cannot be read, To the first one after the range.
	From, To int64
	// Bytes is the length of the range in the log, and SHA256 its hash.
	Bytes  int
	SHA256 [sha256.Size]byte
	Cause  error
}

// Error returns the offsets and the cause.
func (d *DamageError) Error() string {
	return fmt.Sprintf("offsets %d to %d (%d bytes, SHA-256 %x): %v", d.From, d.To-1, d.Bytes, d.SHA256, d.Cause)
}

// Unwrap returns the cause.
func (d *DamageError) Unwrap() error { return d.Cause }

// assess determines the extent of the damage at the start of raw, at the wanted offset. A header
// whose checksum does not match is not trusted: the next intact batch ends the damage. If there is
// none in raw, the header is used if it is plausible, and otherwise everything up to the end of the
// log is lost. It returns nil if there is no offset to continue at.
func assess(raw []byte, position, end int64, cause error) *DamageError {
	d := &DamageError{From: position, To: end, Bytes: len(raw), Cause: cause}
	switch last, claimed := claim(raw, position, end); {
	case claimed && Intact(raw):
		d.To, d.Bytes = last+1, BatchSize(raw)
	default:
		if at, first, found := nextIntact(raw, position, end); found {
			d.To, d.Bytes = first, at
		} else if claimed {
			d.To, d.Bytes = last+1, min(BatchSize(raw), len(raw))
		}
	}
	if d.To <= position {
		return nil
	}
	d.SHA256 = sha256.Sum256(raw[:d.Bytes])
	return d
}

// claim returns the last offset in the header, if it is plausible.
func claim(raw []byte, position, end int64) (last int64, ok bool) {
	if BatchSize(raw) < batchHeaderBytes {
		return 0, false
	}
	_, next := OffsetsOf(raw)
	last = next - 1
	return last, position <= last && last < end
}

// nextIntact finds the next intact batch after the first byte.
func nextIntact(raw []byte, position, end int64) (at int, first int64, found bool) {
	for at = 1; at+batchHeaderBytes <= len(raw); at++ {
		first = int64(binary.BigEndian.Uint64(raw[at:]))
		if position < first && first < end && Intact(raw[at:]) {
			return at, first, true
		}
	}
	return 0, 0, false
}

// Intact reports whether raw begins with a complete batch of format 2 whose checksum matches.
func Intact(raw []byte) bool {
	size := BatchSize(raw)
	return size >= batchHeaderBytes && size <= len(raw) && raw[magicByte] == 2 &&
		crc32.Checksum(raw[crcFromByte:size], crc32.MakeTable(crc32.Castagnoli)) == binary.BigEndian.Uint32(raw[17:])
}

// OffsetsOf returns the first offset in a complete header of a batch, and the one behind its last.
func OffsetsOf(raw []byte) (first, end int64) {
	first = int64(binary.BigEndian.Uint64(raw))
	return first, first + int64(int32(binary.BigEndian.Uint32(raw[23:]))) + 1
}

// BatchSize is the size that the header of a batch claims, prefix included; 0 if raw holds no complete header.
func BatchSize(raw []byte) int {
	if len(raw) < batchHeaderBytes {
		return 0
	}
	return batchPrefixBytes + int(int32(binary.BigEndian.Uint32(raw[8:])))
}
