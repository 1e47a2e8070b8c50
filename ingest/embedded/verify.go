package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lethe/ingest/bus/protocol"
)

// ErrCorrupt means that the log on disk is damaged. Nothing was changed. The operator has to
// restore the file from a copy.
var ErrCorrupt = errors.New("the log is corrupt")

// zeroTailBytes is more zeros than an intact batch ends with.
const zeroTailBytes = 16

// verify reads every segment. kfake would truncate a segment at the first batch whose checksum does not match, and
// lose all later ones. That is correct only at the end of a partition's log, where a process or machine stopped during
// a write. The records of every batch are checked too: older versions stored batches that end the process at the next
// compaction.
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

// removeSnapshots deletes the ends of partitions that a clean stop stored, once they are loaded: kfake believes one of
// an earlier stop if the files have the same sizes, as after a kill behind a compaction, and would end the log there.
func removeSnapshots(dir string) error {
	paths, err := filepath.Glob(filepath.Join(partitionsDir(dir), "*", "snapshot.json"))
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// later reports whether a segment of a partition follows another: names are offsets without leading
// zeros.
func later(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

var (
	// errCut marks a batch that is incomplete, or whose checksum does not match.
	errCut = errors.New("a batch is damaged")
	// errOrder marks a batch with an offset, which is in no checksum, that does not follow the one before.
	errOrder = errors.New("offsets are out of order")
)

// firstDamage returns the position of the first batch that is incomplete or cannot be decoded safely, and
// why.
func firstDamage(raw []byte) (at int, err error) {
	next := int64(0)
	for at < len(raw) {
		if !protocol.Intact(raw[at:]) {
			return at, errCut
		}
		first, end := protocol.OffsetsOf(raw[at:])
		if first < next {
			return at, fmt.Errorf("%w: %d behind %d", errOrder, first, next-1)
		}
		next = end
		size := protocol.BatchSize(raw[at:])
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
	complete := protocol.BatchSize(rest) == len(rest)
	return !complete || len(bytes.Trim(rest[len(rest)-zeroTailBytes:], "\x00")) == 0
}

// intactBehind reports whether an intact batch begins anywhere after a byte.
func intactBehind(raw []byte, at int) bool {
	for at++; at < len(raw); at++ {
		if protocol.Intact(raw[at:]) {
			return true
		}
	}
	return false
}
