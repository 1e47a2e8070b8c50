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

// ErrCorrupt means that the log on disk is damaged. Nothing was changed. The operator has to
// restore the file from a copy.
var ErrCorrupt = errors.New("the log is corrupt")

// The layout of a record batch: its length is at byte 8 and counts what follows, its format at 16,
// its checksum, of everything from byte 21 on, at 17.
const (
	batchPrefixBytes = 12
	batchHeaderBytes = 61
	batchMagicByte   = 16
	batchCRCByte     = 17
	batchSummedFrom  = 21
	// zeroTailBytes is more zeros than an intact batch ends with.
	zeroTailBytes = 16
)

// verify reads every segment. kfake would truncate a segment at the first batch whose checksum does
// not match, and lose what follows. That is correct only at the end of a partition's log, where a
// process or machine stopped during a write. The records of every batch are checked too: older
// versions stored batches that end the process at the next compaction.
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

// later reports whether a segment of a partition follows another: names are offsets without leading
// zeros.
func later(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

// errCut marks a batch that is incomplete, or whose checksum does not match.
var errCut = errors.New("a batch is damaged")

// firstDamage returns the position of the first batch that is incomplete or cannot be decoded safely, and
// why.
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

// torn reports whether a log ends at this byte because a write was interrupted: the end of a
// process leaves a partial batch, that of a machine may leave zeros in place of data.
func torn(raw []byte, at int) bool {
	if intactBehind(raw, at) {
		return false
	}
	rest := raw[at:]
	complete := len(rest) >= batchHeaderBytes && claimedSize(rest) == len(rest)
	return !complete || len(bytes.Trim(rest[len(rest)-zeroTailBytes:], "\x00")) == 0
}

// intactBehind reports whether an intact batch begins anywhere after a byte.
func intactBehind(raw []byte, at int) bool {
	for at++; at < len(raw); at++ {
		if intactBatch(raw[at:]) > 0 {
			return true
		}
	}
	return false
}

// intactBatch returns the size of the intact batch at the start of raw, or 0.
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

// claimedSize is the size in the header of a batch.
func claimedSize(raw []byte) int {
	return batchPrefixBytes + int(int32(binary.BigEndian.Uint32(raw[8:])))
}
