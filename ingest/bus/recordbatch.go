package bus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"time"

	"github.com/segmentio/kafka-go/compress"

	"lethe/ingest"
)

const (
	// batchPrefixBytes come before what a batch's length counts.
	batchPrefixBytes = 12
	// batchHeaderBytes is the header of a batch, prefix included.
	batchHeaderBytes = 61
	// crcFromByte is where the checksummed part of a batch starts.
	crcFromByte = 21

	attributeCompression   = 0x07
	attributeTransactional = 0x10
	attributeControl       = 0x20
	// maxInflatedBytes bounds what a compressed batch may grow to.
	maxInflatedBytes = 1 << 30
)

// batchReader reads record batches of format 2, the only one since Kafka 0.11.
type batchReader struct {
	name      string
	partition int
	// position is the first offset wanted, and after reading the first one
	// not read.
	position int64
	aborted  []aborted
	records  []ingest.Record

	// open holds the producers whose aborted transaction is being passed.
	open []int64
}

// readAll reads every whole batch. A broker may cut the last one short; it is
// left for the next fetch.
func (d *batchReader) readAll(raw []byte) error {
	first := true
	for len(raw) >= batchPrefixBytes {
		size := batchPrefixBytes + int(int32(binary.BigEndian.Uint32(raw[8:])))
		if size < batchHeaderBytes {
			return fmt.Errorf("%w: batch of %d bytes after offset %d", ErrCorrupt, size, d.position)
		}
		if size > len(raw) {
			if first {
				return fmt.Errorf("%w: first batch cut at %d of %d bytes", ErrCorrupt, len(raw), size)
			}
			return nil
		}
		if err := d.readBatch(raw[:size]); err != nil {
			return err
		}
		raw, first = raw[size:], false
	}
	return nil
}

func (d *batchReader) readBatch(raw []byte) error {
	r := &wireReader{rest: raw}
	base := r.int64()
	r.int32() // length
	r.int32() // leader epoch
	magic := r.int8()
	sum := uint32(r.int32())
	attributes := r.int16()
	lastDelta := r.int32()
	timestamp := r.int64()
	r.int64() // latest time
	producer := r.int64()
	r.int16() // producer epoch
	r.int32() // sequence
	count := int(r.int32())
	if magic != 2 {
		return fmt.Errorf("%w: batch at %d has format %d, want 2", ErrCorrupt, base, magic)
	}
	if crc32.Checksum(raw[crcFromByte:], crc32.MakeTable(crc32.Castagnoli)) != sum {
		return fmt.Errorf("%w: checksum of the batch at %d does not match", ErrCorrupt, base)
	}
	last := base + int64(lastDelta)
	d.openAborted(last)
	control := attributes&attributeControl != 0
	skipped := attributes&attributeTransactional != 0 && slices.Contains(d.open, producer)
	if control || !skipped {
		body, err := inflate(r.rest, attributes&attributeCompression)
		if err != nil {
			return fmt.Errorf("%w: batch at %d: %w", ErrCorrupt, base, err)
		}
		h := batchHeader{base: base, timestamp: timestamp, control: control, producer: producer}
		if err := d.readRecords(body, count, h); err != nil {
			return err
		}
	}
	// The end comes from the header: compaction may have taken the last
	// records away.
	d.position = max(d.position, last+1)
	return nil
}

type batchHeader struct {
	base, timestamp, producer int64
	control                   bool
}

func (d *batchReader) readRecords(body []byte, count int, h batchHeader) error {
	r := &wireReader{rest: body}
	for range count {
		record := &wireReader{rest: r.varbytes()}
		record.int8() // attributes
		at := h.timestamp + record.varint()
		offset := h.base + record.varint()
		rec := ingest.Record{
			Topic: d.name, Partition: d.partition, Offset: offset,
			Key: record.varbytes(), Value: record.varbytes(), Time: time.UnixMilli(at).UTC(),
		}
		headers := record.varint()
		for range max(min(headers, int64(len(record.rest))), 0) {
			rec.Headers = append(rec.Headers, ingest.Header{Key: string(record.varbytes()), Value: record.varbytes()})
		}
		if r.err != nil || record.err != nil {
			return fmt.Errorf("%w: record in the batch at %d", ErrCorrupt, h.base)
		}
		switch {
		case h.control:
			// A control record ends its producer's transaction.
			d.open = slices.DeleteFunc(d.open, func(p int64) bool { return p == h.producer })
		case offset >= d.position:
			d.records = append(d.records, rec)
		}
	}
	return nil
}

// openAborted notes the producers of aborted transactions that begin at or
// before the offset. The broker lists producer and first offset of each; it
// lasts until the producer's next control record.
func (d *batchReader) openAborted(offset int64) {
	d.aborted = slices.DeleteFunc(d.aborted, func(a aborted) bool {
		if a.first <= offset {
			d.open = append(d.open, a.producer)
		}
		return a.first <= offset
	})
}

func inflate(body []byte, codec int16) ([]byte, error) {
	if codec == 0 {
		return body, nil
	}
	c := compress.Compression(codec).Codec()
	if c == nil {
		return nil, fmt.Errorf("unknown compression %d", codec)
	}
	reader := c.NewReader(bytes.NewReader(body))
	out, err := io.ReadAll(io.LimitReader(reader, maxInflatedBytes))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return out, reader.Close()
}
