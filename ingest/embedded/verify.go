package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"lethe/ingest/bus/protocol"
)

// ErrCorrupt marks a log on disk that is not what was written. Nothing was changed.
// The operator puts the file back from a copy.
var ErrCorrupt = errors.New("the log is corrupt")

// A record batch, as far as its wholeness goes: its length stands at byte 8 and
// counts what follows, its format at 16, its checksum at 17, of all from byte 21 on.
const (
	batchPrefixBytes = 12
	batchHeaderBytes = 61
	batchMagicByte   = 16
	batchCRCByte     = 17
	batchSummedFrom  = 21
	// zeroTailBytes is more zeros than a batch ends with that is whole.
	zeroTailBytes = 16
)

// verify reads every segment. kfake would cut one at the first batch whose checksum
// does not match, and what stands behind it would be gone. That is right at the end
// of a partition's log only, where a process or machine died while it wrote. The records of every
// batch are walked too: older versions stored batches that end the process at the next compaction.
func verify(dir string) error {
	segments, err := filepath.Glob(filepath.Join(partitionsDir(dir), "*", "*.dat"))
	if err != nil {
		return err
	}
	newest := make(map[string]string) // by partition
	for _, path := range segments {
		if partition := filepath.Dir(path); later(path, newest[partition]) {
			newest[partition] = path
		}
	}
	for _, path := range segments {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		at, cause := firstDamage(raw)
		if cause == nil || errors.Is(cause, errCut) && newest[filepath.Dir(path)] == path && torn(raw, at) {
			continue
		}
		return fmt.Errorf("%w: %s, at byte %d of %d: %w (restore the file from a copy; without one, begin "+
			"again with an empty data directory)", ErrCorrupt, path, at, len(raw), cause)
	}
	return nil
}

// later reports whether a segment of a partition comes behind another: names are
// offsets without leading zeros.
func later(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

// errCut marks a batch that is not whole, or whose checksum does not match.
var errCut = errors.New("a batch is damaged")

// firstDamage returns where the first batch begins that is not whole or cannot be decoded safely, and why.
func firstDamage(raw []byte) (at int, err error) {
	for at < len(raw) {
		size := intactBatch(raw[at:])
		if size == 0 {
			return at, errCut
		}
		if err := protocol.CheckStored(raw[at : at+size]); err != nil {
			return at, err
		}
		at += size
	}
	return at, nil
}

// torn reports whether a log ends at a byte because it was being written when a
// process died, which leaves a part of a batch, or a machine, which may leave zeros
// in the place of bytes.
func torn(raw []byte, at int) bool {
	if intactBehind(raw, at) {
		return false
	}
	rest := raw[at:]
	complete := len(rest) >= batchHeaderBytes && claimedSize(rest) == len(rest)
	return !complete || len(bytes.Trim(rest[len(rest)-zeroTailBytes:], "\x00")) == 0
}

// intactBehind reports whether a whole batch begins anywhere behind a byte.
func intactBehind(raw []byte, at int) bool {
	for at++; at < len(raw); at++ {
		if intactBatch(raw[at:]) > 0 {
			return true
		}
	}
	return false
}

// intactBatch returns the size of the whole batch that raw begins with, or 0.
func intactBatch(raw []byte) int {
	if len(raw) < batchHeaderBytes || raw[batchMagicByte] != 2 {
		return 0
	}
	size := claimedSize(raw)
	if size < batchHeaderBytes || size > len(raw) || crc32.Checksum(raw[batchSummedFrom:size],
		crc32.MakeTable(crc32.Castagnoli)) != binary.BigEndian.Uint32(raw[batchCRCByte:]) {
		return 0
	}
	return size
}

// claimedSize is what the header of a batch says.
func claimedSize(raw []byte) int {
	return batchPrefixBytes + int(int32(binary.BigEndian.Uint32(raw[8:])))
}
