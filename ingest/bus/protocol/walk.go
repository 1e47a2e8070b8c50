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

// Intact reports whether a complete batch's checksum matches.
func Intact(batch []byte) bool { return len(batch) >= batchHeaderBytes && intact(batch) }

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
		size, n := binary.Varint(body)
		if n <= 0 || size < 0 || size > int64(len(body)-n) {
			return fmt.Errorf("%w: record %d claims %d bytes of %d", ErrCorrupt, i, size, len(body)-max(n, 0))
		}
		offset, ok := walkRecord(body[n : n+int(size)])
		if !ok {
			return fmt.Errorf("%w: lengths in record %d of %d do not add up", ErrCorrupt, i, count)
		}
		if produced && offset != int64(i) {
			return fmt.Errorf("%w: record %d of %d has offset %d", ErrCorrupt, i, count, offset)
		}
		body = body[n+int(size):]
	}
	if produced && len(body) > 0 {
		return fmt.Errorf("%w: %d bytes behind the last record", ErrCorrupt, len(body))
	}
	return nil
}

// walkRecord returns the offset of a record within its batch, and whether its fields fill exactly its bytes.
func walkRecord(record []byte) (offset int64, ok bool) {
	if len(record) < leastRecordBytes-1 {
		return 0, false
	}
	w := walker{rest: record[1:]} // after the attributes
	w.number(1<<63 - 1)           // time
	offset = w.number(1<<31 - 1)
	w.field(-1) // key
	w.field(-1) // value
	for headers := w.count(); headers > 0 && !w.bad; headers-- {
		w.field(0)
		w.field(-1)
	}
	return offset, !w.bad && len(w.rest) == 0
}

// walker skips the fields of a record. After the first one that does not fit, bad is set.
type walker struct {
	rest []byte
	bad  bool
}

// number reads a varint; a value above largest sets bad.
func (w *walker) number(largest int64) int64 {
	value, n := binary.Varint(w.rest)
	if n <= 0 || value > largest || value < -largest-1 {
		w.bad, w.rest = true, nil
		return 0
	}
	w.rest = w.rest[n:]
	return value
}

// field skips a length and as many bytes; least is -1 if the field may be absent.
func (w *walker) field(least int64) {
	size := w.number(1<<31 - 1)
	if size < least || size > int64(len(w.rest)) {
		w.bad, w.rest = true, nil
		return
	}
	w.rest = w.rest[max(size, 0):]
}

// count reads the number of headers, each of at least two bytes.
func (w *walker) count() int64 {
	n := w.number(1<<31 - 1)
	if n < 0 || n > int64(len(w.rest))/2 {
		w.bad, w.rest = true, nil
		return 0
	}
	return n
}
