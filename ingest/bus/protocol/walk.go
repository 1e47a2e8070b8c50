package protocol

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// maxStoredBytes bounds the decompressed size of a batch in an existing log. It is above maxInflatedBytes, so that
// a log with a batch that readers only skip can still be opened.
const maxStoredBytes = 256 << 20

// CheckProduced returns why the records of a batch must not be stored: no reader could read all of them. It does
// not check the checksum. The header must be complete and of format 2. Errors: ErrInflated, ErrCorrupt.
func CheckProduced(batch []byte) error { return checkRecords(batch, maxInflatedBytes, true) }

// CheckStored returns why decoding a stored batch could end the process or exhaust its memory. A compacted batch
// may have gaps between its offsets. Errors: ErrInflated, ErrCorrupt.
func CheckStored(batch []byte) error { return checkRecords(batch, maxStoredBytes, false) }

func checkRecords(batch []byte, limit int, produced bool) error {
	const lastDeltaAt, countAt = 23, batchHeaderBytes - 4
	if len(batch) < batchHeaderBytes {
		return fmt.Errorf("%w: batch of %d bytes", ErrCorrupt, len(batch))
	}
	count := int32(binary.BigEndian.Uint32(batch[countAt:]))
	last := int32(binary.BigEndian.Uint32(batch[lastDeltaAt:]))
	if count < 0 || last < 0 || produced && (count == 0 || last != count-1) {
		return fmt.Errorf("%w: batch of %d records, last offset %d", ErrCorrupt, count, last)
	}
	codec := int16(binary.BigEndian.Uint16(batch[crcFromByte:])) & attributeCompression
	if codec == 0 {
		return walkRecords(batch[batchHeaderBytes:], count, produced)
	}
	scratch, _ := scratches.Get().(*[]byte)
	if scratch == nil {
		scratch = new([]byte)
	}
	defer scratches.Put(scratch)
	body, err := inflateTo(*scratch, batch[batchHeaderBytes:], codec, limit)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if cap(body) <= maxScratchBytes {
		*scratch = body
	}
	return walkRecords(body, count, produced)
}

// scratches are buffers for decompressed records, which are only checked.
var scratches sync.Pool //nolint:gochecknoglobals // a pool

const maxScratchBytes = 4 << 20

// walkRecords checks the lengths of records without decoding them.
func walkRecords(body []byte, count int32, produced bool) error {
	for i := range count {
		rec, rest, ok := nextRecord(body, false)
		if !ok {
			return fmt.Errorf("%w: record %d of %d is malformed", ErrCorrupt, i, count)
		}
		if produced && rec.offset != i {
			return fmt.Errorf("%w: record %d of %d has offset %d", ErrCorrupt, i, count, rec.offset)
		}
		body = rest
	}
	if produced && len(body) > 0 {
		return fmt.Errorf("%w: %d bytes behind the last record", ErrCorrupt, len(body))
	}
	return nil
}
