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

// FetchRequest asks for the records of one partition from a position on.
type FetchRequest struct {
	// Topic is the full name.
	Topic     string
	Partition int
	// Copy, if not nil, is the broker whose copy of the partition is read; otherwise it is the leader's. A
	// broker that follows may have less than the leader, and keep what the leader has cleaned away.
	Copy *int32
	// Rack is where the reader is, for the leader to name a broker that is nearer, or empty.
	Rack     string
	Position int64
	// Wait is how long the broker holds a fetch that finds nothing.
	Wait time.Duration
	// MaxBytes is what to answer with at most, but for one batch that is larger.
	MaxBytes int
	// Aborted asks for records of aborted transactions too, which are marked. Uncommitted asks for every record
	// up to the high watermark, whatever became of its transaction.
	Aborted, Uncommitted bool
}

// Fetched is what a partition answered.
type Fetched struct {
	// Records are in order, at and after the position. They share memory.
	Records []ingest.Record
	// Next is where to go on: past the last whole batch, whether or not
	// compaction left anything of its end.
	Next int64
	// Start is where the log begins of the broker that answered, End the position after the last record
	// that can be read.
	Start, End int64
	// Nearer, if not nil, is the broker to read instead, of the reader's rack; there is nothing else then.
	Nearer *int32
	// Damaged, if not nil, is what stands at the position and cannot be read; Next is
	// behind it, and there are no records.
	Damaged *DamageError
}

// Fetch reads records at and after the position. It uses version 11 of the
// request, which Kafka serves since 2.3, without a fetch session, and reads
// committed records only unless it is asked for others. What of the log cannot be read is no error, see
// Fetched.Damaged. Errors: ErrCorrupt for an answer that makes no sense, ErrAway, codes of the
// broker as kafka.Error, failures of the connection.
func (c Client) Fetch(ctx context.Context, req FetchRequest) (Fetched, error) {
	const framingBytes = 1 << 20 // more than surrounds the batches of one partition
	response, err := c.send(ctx, &call{
		request: req.message(), topic: req.Topic, partition: req.Partition, broker: req.Copy,
		// A broker sends one batch that is larger than asked for whole.
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

// readCommitted leaves out records of transactions that are not, or not yet, committed. readUncommitted does not.
const readUncommitted, readCommitted = 0, 1

// isolation is the level that reads records whatever became of their transactions, or not.
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

// checkFetchCounts refuses a response that claims to have more than the one
// partition asked for, or more aborted transactions than it has bytes for. kmsg
// makes room for as many as are claimed, up to one for a byte.
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
