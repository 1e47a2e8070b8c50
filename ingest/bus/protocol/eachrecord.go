package protocol

import (
	"encoding/binary"
	"errors"
	"math"

	"lethe/ingest"
)

// EachRecord calls fn for every record of the complete batches at the start of raw, in the format
// of a log file, and returns the length of these batches. It does not filter aborted transactions:
// their records are included. The error is that of fn, or ErrCorrupt for a complete batch that
// cannot be read. Records share memory with raw.
func EachRecord(topic string, partition int, raw []byte, fn func(ingest.Record) error) (whole int, err error) {
	for len(raw)-whole >= batchHeaderBytes {
		batch := raw[whole:]
		size := BatchSize(batch)
		if size > len(batch) {
			return whole, nil
		}
		if err := eachOfBatch(topic, partition, batch[:max(size, batchHeaderBytes)], fn); err != nil {
			return whole, err
		}
		whole += size
	}
	return whole, nil
}

// Compressed reports whether any complete batch at the start of raw is compressed: a search of raw
// does not find its records.
func Compressed(raw []byte) bool {
	for len(raw) >= batchHeaderBytes {
		size := max(BatchSize(raw), batchHeaderBytes)
		if size > len(raw) {
			return false
		}
		if binary.BigEndian.Uint16(raw[crcFromByte:])&attributeCompression != 0 {
			return true
		}
		raw = raw[size:]
	}
	return false
}

// eachOfBatch reads one batch, in several passes if needed.
func eachOfBatch(topic string, partition int, raw []byte, fn func(ingest.Record) error) error {
	for b := (batchReader{topic: topic, partition: partition, position: math.MinInt64}); ; {
		err := b.readBatch(raw)
		if err != nil && !errors.Is(err, errFull) {
			return err
		}
		for _, rec := range b.records {
			if err := fn(rec); err != nil {
				return err
			}
		}
		if err == nil {
			return nil
		}
		b.records = b.records[:0]
	}
}
