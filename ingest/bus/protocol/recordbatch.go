package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
)

const (
	// batchPrefixBytes is the length of the prefix that a batch's length does not count.
	batchPrefixBytes = 12
	// batchHeaderBytes is the length of the header of a batch, prefix included.
	batchHeaderBytes = 61
	// magicByte is the position of the format version, crcFromByte the start of the checksummed
	// part.
	magicByte   = 16
	crcFromByte = 21

	attributeCompression   = 0x07
	attributeAppendTime    = 0x08
	attributeTransactional = 0x10
	attributeControl       = 0x20
	// maxRecords bounds the records of one read, and maxHeaders the headers of a record: in memory
	// the smallest of them takes many times its encoded length.
	maxRecords = 1 << 16
	maxHeaders = 10_000
	// leastRecordBytes is the length of the smallest possible record.
	leastRecordBytes = 7
)

// batchReader reads record batches of format 2, the only one since Kafka 0.11.
type batchReader struct {
	topic     string
	partition int
	// position is the first wanted offset, and after reading the first one not read.
	position int64
	// aborted are transactions whose records are left out, or marked if keepsAborted is set.
	aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction
	records []ingest.Record
	// keepsAborted includes records of aborted transactions; uncommitted is the mark for those of the
	// current batch.
	keepsAborted bool
	uncommitted  ingest.Uncommitted

	// open holds the producers that have an aborted transaction at the current offset.
	open []int64
}

// errFull ends reading before the end of a batch: the rest is left for the next fetch.
var errFull = errors.New("enough records for one fetch")

// readAll reads every complete batch. The following are left for the next fetch: a last batch that
// the broker cut short, a batch that cannot be read after one that could, and records after
// maxRecords. If the first batch cannot be read, readAll returns its damage.
func (b *batchReader) readAll(raw []byte, end int64) (*DamageError, error) {
	begun := b.position
	b.records = slices.Grow(b.records, expected(raw))
	for len(raw) >= batchPrefixBytes {
		var err error
		size := BatchSize(raw)
		switch {
		case size < batchHeaderBytes:
			err = fmt.Errorf("%w: batch of %d bytes after offset %d", ErrCorrupt, size, b.position)
		case size > len(raw):
			err = fmt.Errorf("%w: first batch cut at %d of %d bytes", ErrCorrupt, len(raw), size)
		default:
			err = b.readBatch(raw[:size])
		}
		switch {
		case errors.Is(err, errFull):
			return nil, nil
		case err != nil && b.position > begun:
			return nil, nil
		case err != nil:
			if d := assess(raw, b.position, end, err); d != nil {
				return d, nil
			}
			return nil, err
		}
		raw = raw[size:]
	}
	return nil, nil
}

// expected is the number of records that complete batches claim, bounded by their bytes. Compressed ones may have
// more.
func expected(raw []byte) (n int) {
	const countAt = batchHeaderBytes - 4
	for len(raw) >= batchHeaderBytes {
		size := BatchSize(raw)
		if size < batchHeaderBytes || size > len(raw) {
			break
		}
		n += min(int(binary.BigEndian.Uint32(raw[countAt:])), (size-batchHeaderBytes)/leastRecordBytes)
		raw = raw[size:]
	}
	return min(n, maxRecords)
}

func (b *batchReader) readBatch(raw []byte) error {
	var batch kmsg.RecordBatch
	if err := batch.ReadFrom(raw); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if batch.Magic != 2 {
		return fmt.Errorf("%w: batch at %d has format %d, want 2", ErrCorrupt, batch.FirstOffset, batch.Magic)
	}
	if !Intact(raw) {
		return fmt.Errorf("%w: checksum of the batch at %d does not match", ErrCorrupt, batch.FirstOffset)
	}
	last := batch.FirstOffset + int64(batch.LastOffsetDelta)
	b.openAborted(last)
	control := batch.Attributes&attributeControl != 0
	skipped := batch.Attributes&attributeTransactional != 0 && slices.Contains(b.open, batch.ProducerID)
	if b.uncommitted = ""; skipped {
		b.uncommitted = ingest.InAborted
	}
	if control || !skipped || b.keepsAborted {
		body, err := inflate(batch.Records, batch.Attributes&attributeCompression)
		if err != nil {
			return fmt.Errorf("%w: batch at %d: %w", ErrCorrupt, batch.FirstOffset, err)
		}
		// Records from a batch that turns out to be damaged are dropped: the whole batch is
		// reported as damaged.
		taken, position := len(b.records), b.position
		if err := b.readRecords(body, &batch, control); err != nil {
			if !errors.Is(err, errFull) {
				b.records, b.position = b.records[:taken], position
			}
			return err
		}
	}
	// The end comes from the header: compaction may have removed the last records.
	b.position = max(b.position, last+1)
	return nil
}

// readRecords reads the records of a batch at and after the position. Their offsets must ascend
// within the range in the header: a larger one would move the position past batches that were not
// read.
func (b *batchReader) readRecords(body []byte, batch *kmsg.RecordBatch, control bool) error {
	previous := int32(-1)
	if n := min(int(batch.NumRecords), len(body)/leastRecordBytes, maxRecords-len(b.records)); n > 0 && !control {
		b.records = slices.Grow(b.records, n)
	}
	for range batch.NumRecords {
		rec, rest, ok := nextRecord(body, true)
		if !ok {
			return fmt.Errorf("%w: record in the batch at %d is malformed", ErrCorrupt, batch.FirstOffset)
		}
		body = rest
		if rec.offset <= previous || rec.offset > batch.LastOffsetDelta {
			return fmt.Errorf("%w: record %d of the batch at %d, behind %d, last %d", ErrCorrupt,
				rec.offset, batch.FirstOffset, previous, batch.LastOffsetDelta)
		}
		previous = rec.offset
		offset := batch.FirstOffset + int64(rec.offset)
		switch {
		case control:
			// A control record ends its producer's transaction.
			b.open = slices.DeleteFunc(b.open, func(p int64) bool { return p == batch.ProducerID })
		case offset >= b.position && len(b.records) == maxRecords:
			return errFull
		case offset >= b.position:
			b.position = offset + 1
			b.records = append(b.records, ingest.Record{
				Topic: b.topic, Partition: b.partition, Offset: offset,
				Key: rec.key, Value: rec.value, Headers: rec.headers,
				Time: timeOf(batch, rec.timeMillis), Uncommitted: b.uncommitted,
			})
		}
	}
	return nil
}

// timeOf is the timestamp of a record: the broker's, if the topic uses that (until compaction the broker stores it
// only for the batch), and else the producer's. It is zero if the producer's time cannot be written in a document:
// everything written about the record would fail.
func timeOf(batch *kmsg.RecordBatch, deltaMillis int64) time.Time {
	millis := batch.FirstTimestamp + deltaMillis
	if batch.Attributes&attributeAppendTime != 0 {
		millis = batch.MaxTimestamp
	}
	at := time.UnixMilli(millis).UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

// openAborted adds the producers of aborted transactions that begin at or before the offset to
// open. The broker lists producer and first offset of each; a transaction lasts until the
// producer's next control record.
func (b *batchReader) openAborted(offset int64) {
	b.aborted = slices.DeleteFunc(b.aborted, func(a kmsg.FetchResponseTopicPartitionAbortedTransaction) bool {
		if a.FirstOffset <= offset {
			b.open = append(b.open, a.ProducerID)
		}
		return a.FirstOffset <= offset
	})
}
