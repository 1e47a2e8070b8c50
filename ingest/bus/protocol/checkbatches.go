package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrInflated marks a batch that decompresses to more than a reader accepts. The producer should send smaller batches.
var ErrInflated = errInflation

// CheckBatches walks every record of the whole batches that raw begins with, without decoding keys and values, and
// returns how many bytes those batches have. A batch that passes can be read by EachRecord, takes no more memory than
// its bytes, or once decompressed a bounded number, and has records exactly as its header claims. It does not compare
// checksums. Errors: ErrInflated, or ErrCorrupt for a batch that is complete and not well formed.
func CheckBatches(raw []byte) (whole int, err error) {
	for len(raw)-whole >= batchPrefixBytes {
		batch := raw[whole:]
		size := batchSize(batch)
		if size < batchHeaderBytes {
			return whole, fmt.Errorf("%w: a batch of %d bytes", ErrCorrupt, size)
		}
		if size > len(batch) {
			break
		}
		if err := checkBatch(batch[:size]); err != nil {
			return whole, err
		}
		whole += size
	}
	return whole, nil
}

// checkBatch walks one batch.
func checkBatch(raw []byte) error {
	const lastDeltaAt, countAt = 23, batchHeaderBytes - 4
	if raw[magicByte] != 2 {
		return fmt.Errorf("%w: a batch of format %d, want 2", ErrCorrupt, raw[magicByte])
	}
	attributes := int16(binary.BigEndian.Uint16(raw[crcFromByte:]))
	body, err := inflate(raw[batchHeaderBytes:], attributes&attributeCompression)
	if errors.Is(err, errInflation) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	count, last := int32(binary.BigEndian.Uint32(raw[countAt:])), int32(binary.BigEndian.Uint32(raw[lastDeltaAt:]))
	if count < 0 || int64(count)*leastRecordBytes > int64(len(body)) {
		return fmt.Errorf("%w: a batch of %d bytes claims %d records", ErrCorrupt, len(body), count)
	}
	previous := int64(-1)
	for i := range count {
		size, n := binary.Varint(body)
		if n <= 0 || size < 0 || size > int64(len(body)-n) {
			return fmt.Errorf("%w: record %d claims %d bytes of %d", ErrCorrupt, i, size, len(body)-n)
		}
		delta, err := checkRecord(body[n : n+int(size)])
		if err != nil {
			return fmt.Errorf("%w: record %d: %w", ErrCorrupt, i, err)
		}
		if delta <= previous || delta > int64(last) {
			return fmt.Errorf("%w: record %d has offset %d behind %d, last %d", ErrCorrupt, i, delta, previous, last)
		}
		previous, body = delta, body[n+int(size):]
	}
	if len(body) > 0 {
		return fmt.Errorf("%w: %d bytes behind the last record", ErrCorrupt, len(body))
	}
	return nil
}

// checkRecord walks the fields of a record, and returns its offset within the batch.
func checkRecord(record []byte) (offsetDelta int64, err error) {
	if len(record) == 0 {
		return 0, errors.New("no attributes")
	}
	w := walker{rest: record[1:]}
	w.varint() // timestamp
	offsetDelta = w.varint()
	w.field(-1) // key
	w.field(-1) // value
	headers := w.varint()
	if headers < 0 || headers > int64(len(w.rest)) {
		return 0, fmt.Errorf("%d headers", headers)
	}
	for range headers {
		w.field(0)
		w.field(-1)
	}
	if w.bad || len(w.rest) > 0 {
		return 0, errors.New("its fields do not fill it")
	}
	return offsetDelta, nil
}

// walker passes over fields; bad is set once one is not there.
type walker struct {
	rest []byte
	bad  bool
}

func (w *walker) varint() int64 {
	v, n := binary.Varint(w.rest)
	if n <= 0 {
		w.bad, w.rest = true, nil
		return 0
	}
	w.rest = w.rest[n:]
	return v
}

// field passes over bytes behind their length, which is at least least; -1 stands for none.
func (w *walker) field(least int64) {
	size := w.varint()
	if size < least || size > int64(len(w.rest)) {
		w.bad, w.rest = true, nil
		return
	}
	w.rest = w.rest[max(size, 0):]
}
