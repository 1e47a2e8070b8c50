package protocol

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"time"

	"github.com/segmentio/kafka-go/compress"
	"github.com/twmb/franz-go/pkg/kmsg"

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
	topic     string
	partition int
	// position is the first offset wanted, and after reading the first one
	// not read.
	position int64
	// aborted are transactions whose records must be left out.
	aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction
	records []ingest.Record

	// open holds the producers whose aborted transaction is being passed.
	open []int64
}

// readAll reads every whole batch. A broker may cut the last one short; it is
// left for the next fetch.
func (b *batchReader) readAll(raw []byte) error {
	first := true
	for len(raw) >= batchPrefixBytes {
		size := batchPrefixBytes + int(int32(binary.BigEndian.Uint32(raw[8:])))
		if size < batchHeaderBytes {
			return fmt.Errorf("%w: batch of %d bytes after offset %d", ErrCorrupt, size, b.position)
		}
		if size > len(raw) {
			if first {
				return fmt.Errorf("%w: first batch cut at %d of %d bytes", ErrCorrupt, len(raw), size)
			}
			return nil
		}
		if err := b.readBatch(raw[:size]); err != nil {
			return err
		}
		raw, first = raw[size:], false
	}
	return nil
}

func (b *batchReader) readBatch(raw []byte) error {
	var batch kmsg.RecordBatch
	if err := batch.ReadFrom(raw); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if batch.Magic != 2 {
		return fmt.Errorf("%w: batch at %d has format %d, want 2", ErrCorrupt, batch.FirstOffset, batch.Magic)
	}
	if crc32.Checksum(raw[crcFromByte:], crc32.MakeTable(crc32.Castagnoli)) != uint32(batch.CRC) {
		return fmt.Errorf("%w: checksum of the batch at %d does not match", ErrCorrupt, batch.FirstOffset)
	}
	last := batch.FirstOffset + int64(batch.LastOffsetDelta)
	b.openAborted(last)
	control := batch.Attributes&attributeControl != 0
	skipped := batch.Attributes&attributeTransactional != 0 && slices.Contains(b.open, batch.ProducerID)
	if control || !skipped {
		body, err := inflate(batch.Records, batch.Attributes&attributeCompression)
		if err != nil {
			return fmt.Errorf("%w: batch at %d: %w", ErrCorrupt, batch.FirstOffset, err)
		}
		if err := b.readRecords(body, &batch, control); err != nil {
			return err
		}
	}
	// The end comes from the header: compaction may have taken the last
	// records away.
	b.position = max(b.position, last+1)
	return nil
}

func (b *batchReader) readRecords(body []byte, batch *kmsg.RecordBatch, control bool) error {
	for range batch.NumRecords {
		size, n := binary.Varint(body)
		if n <= 0 || size < 0 || size > int64(len(body)-n) {
			return fmt.Errorf("%w: record in the batch at %d is cut short", ErrCorrupt, batch.FirstOffset)
		}
		var rec kmsg.Record
		if err := rec.ReadFrom(body[:n+int(size)]); err != nil {
			return fmt.Errorf("%w: record in the batch at %d: %w", ErrCorrupt, batch.FirstOffset, err)
		}
		body = body[n+int(size):]
		offset := batch.FirstOffset + int64(rec.OffsetDelta)
		switch {
		case control:
			// A control record ends its producer's transaction.
			b.open = slices.DeleteFunc(b.open, func(p int64) bool { return p == batch.ProducerID })
		case offset >= b.position:
			b.records = append(b.records, ingest.Record{
				Topic: b.topic, Partition: b.partition, Offset: offset,
				Key: rec.Key, Value: rec.Value, Headers: headers(rec.Headers),
				Time: time.UnixMilli(batch.FirstTimestamp + rec.TimestampDelta64).UTC(),
			})
		}
	}
	return nil
}

func headers(from []kmsg.Header) []ingest.Header {
	if len(from) == 0 {
		return nil
	}
	out := make([]ingest.Header, len(from))
	for i, h := range from {
		out[i] = ingest.Header{Key: h.Key, Value: h.Value}
	}
	return out
}

// openAborted notes the producers of aborted transactions that begin at or
// before the offset. The broker lists producer and first offset of each; it
// lasts until the producer's next control record.
func (b *batchReader) openAborted(offset int64) {
	b.aborted = slices.DeleteFunc(b.aborted, func(a kmsg.FetchResponseTopicPartitionAbortedTransaction) bool {
		if a.FirstOffset <= offset {
			b.open = append(b.open, a.ProducerID)
		}
		return a.FirstOffset <= offset
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
