package protocol

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/internal/bytecursor"
)

// FetchRequest requests the records of one partition from a position on.
type FetchRequest struct {
	// Topic is the full name.
	Topic     string
	Partition int
	// Copy, if not nil, is the broker whose replica of the partition is read; otherwise the leader is. A follower may
	// have less than the leader, and still hold records that the leader has cleaned.
	Copy *int32
	// Rack is the rack of the reader, from which the leader may name a nearer broker, or empty.
	Rack     string
	Position int64
	// Wait is how long the broker holds a fetch that finds nothing.
	Wait time.Duration
	// MaxBytes bounds the response, unless its first batch is larger.
	MaxBytes int
	// Aborted includes records of aborted transactions, which are marked. Uncommitted includes every record
	// up to the high watermark, whatever the state of its transaction.
	Aborted, Uncommitted bool
}

// Fetched is the result of a fetch.
type Fetched struct {
	// Records are in order, at and after the position. They share memory.
	Records []ingest.Record
	// Next is the position to continue at: after the last complete batch, also if compaction has
	// removed the end of it.
	Next int64
	// Start is where the log of the responding broker begins, End the offset after the last record
	// that can be read.
	Start, End int64
	// Nearer, if not nil, is the broker in the reader's rack to read instead; the other fields are
	// empty then.
	Nearer *int32
	// Damaged, if not nil, is the unreadable range at the position; Next is after it, and there
	// are no records.
	Damaged *DamageError
}

// Fetch reads records at and after the position. It uses version 11 of the request, which Kafka serves
// since 2.3, without a fetch session, and returns only committed records unless others are requested.
// An unreadable part of the log is no error, see Fetched.Damaged. Errors: ErrCorrupt for a malformed
// response, ErrAway, codes of the broker as kafka.Error, failures of the connection.
func (c Client) Fetch(ctx context.Context, req FetchRequest) (Fetched, error) {
	const framingBytes = 1 << 20 // upper bound of the framing of one partition's batches
	response, err := c.send(ctx, &call{
		request: req.message(), topic: req.Topic, partition: req.Partition, broker: req.Copy,
		// A broker returns a batch that is larger than MaxBytes whole.
		limitBytes: 1<<30 + framingBytes,
		check:      checkFetchCounts,
	})
	if err != nil {
		return Fetched{}, err
	}
	got, err := req.read(response.(*kmsg.FetchResponse))
	if err != nil {
		return Fetched{}, fmt.Errorf("fetch %s/%d@%d: %w", req.Topic, req.Partition, req.Position, err)
	}
	return got, nil
}

// The isolation levels: readCommitted leaves out records of aborted and open transactions.
const readUncommitted, readCommitted = 0, 1

// isolation returns the isolation level.
func isolation(uncommitted bool) int8 {
	if uncommitted {
		return readUncommitted
	}
	return readCommitted
}

func (req *FetchRequest) message() *kmsg.FetchRequest {
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.Partition = int32(req.Partition)
	partition.FetchOffset = req.Position
	partition.PartitionMaxBytes = int32(req.MaxBytes)
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic = req.Topic
	topic.Partitions = append(topic.Partitions, partition)
	m := kmsg.NewPtrFetchRequest()
	m.Version = 11
	m.MaxWaitMillis = int32(req.Wait.Milliseconds())
	m.MinBytes = 1
	m.MaxBytes = int32(req.MaxBytes)
	m.IsolationLevel = isolation(req.Uncommitted)
	m.Rack = req.Rack
	m.Topics = append(m.Topics, topic)
	return m
}

// checkFetchCounts rejects a response that claims to have more than the one requested partition, or
// more aborted transactions than its length allows. kmsg allocates as many as are claimed, up to
// one for each byte.
func checkFetchCounts(body []byte) error {
	const null = 1<<32 - 1
	c := bytecursor.New(body, binary.BigEndian)
	c.Take(4 + 2 + 4) // throttle time, error, session
	if topics := c.Uint32(); topics != 1 && c.Err() == nil {
		if topics == 0 || topics == null {
			return nil
		}
		return fmt.Errorf("%w: fetch response with %d topics", ErrCorrupt, topics)
	}
	c.Take(int(c.Uint16())) // name
	partitions := c.Uint32()
	c.Take(4 + 2 + 3*8) // number, error, three offsets
	aborted := c.Uint32()
	if c.Err() != nil || partitions != 1 || aborted != null && int(aborted) > c.Left()/16 {
		return fmt.Errorf("%w: fetch response of %d bytes with %d partitions, %d aborted transactions",
			ErrCorrupt, len(body), partitions, aborted)
	}
	return nil
}

func (req *FetchRequest) read(response *kmsg.FetchResponse) (Fetched, error) {
	if err := codeError(response.ErrorCode); err != nil {
		return Fetched{}, err
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return Fetched{}, fmt.Errorf("%w: fetch response with %d topics", ErrCorrupt, len(response.Topics))
	}
	p := &response.Topics[0].Partitions[0]
	if err := codeError(p.ErrorCode); err != nil {
		return Fetched{}, err
	}
	if p.PreferredReadReplica >= 0 {
		return Fetched{Next: req.Position, Nearer: &p.PreferredReadReplica}, nil
	}
	b := batchReader{
		topic: req.Topic, partition: req.Partition, position: req.Position, aborted: p.AbortedTransactions,
		keepsAborted: req.Aborted,
	}
	got := Fetched{Start: p.LogStartOffset, End: p.LastStableOffset}
	if req.Uncommitted {
		got.End = p.HighWatermark
	}
	var err error
	if got.Damaged, err = b.readAll(p.RecordBatches, got.End); err != nil {
		return Fetched{}, err
	}
	got.Records, got.Next = b.records, b.position
	if got.Damaged != nil {
		got.Records, got.Next = nil, got.Damaged.To
	}
	return got, nil
}
