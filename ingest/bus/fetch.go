package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go/protocol"

	"lethe/ingest"
)

// fetchRequest asks for the records of one partition from a position on.
type fetchRequest struct {
	source   TopicPartition
	name     string
	position int64
	wait     time.Duration
	maxBytes int
	clientID string
}

// fetched is what a partition answered.
type fetched struct {
	records []ingest.Record
	// next is where to go on: past the last whole batch, whether or not
	// compaction left anything of its end.
	next int64
	// end is the position after the last record that can be read.
	end int64
}

// fetch reads records at and after the position. It uses version 11 of the
// Fetch request, which Kafka serves since 2.3, without a fetch session, and
// reads committed records only.
func fetch(ctx context.Context, l *link, req fetchRequest) (fetched, error) {
	const framingBytes = 1 << 20 // more than surrounds the batches of one partition
	message, err := l.transport.RoundTrip(ctx, l.address, &call{
		key: protocol.Fetch, version: 11, clientID: req.clientID,
		topic: req.name, partition: req.source.Partition,
		// A broker sends one batch that is larger than asked for whole.
		limitBytes: 1<<30 + framingBytes,
		body:       req.write,
	})
	if err != nil {
		return fetched{}, err
	}
	got, err := req.read(&wireReader{rest: message.(*answer).body})
	if err != nil {
		return fetched{}, fmt.Errorf("fetch %s@%d: %w", req.source, req.position, err)
	}
	return got, nil
}

func (req *fetchRequest) write(w *wireWriter) {
	w.int32(-1) // replica: none, a consumer
	w.int32(int32(req.wait.Milliseconds()))
	w.int32(1) // answer at the first byte
	w.int32(int32(req.maxBytes))
	w.int8(1)   // read committed
	w.int32(0)  // session: none
	w.int32(-1) // session epoch: none
	w.int32(1)  // topics
	w.text(req.name)
	w.int32(1) // partitions
	w.int32(int32(req.source.Partition))
	w.int32(-1) // leader epoch: unknown
	w.int64(req.position)
	w.int64(-1) // log start: for replicas
	w.int32(int32(req.maxBytes))
	w.int32(0) // forgotten topics
	w.text("") // rack
}

// aborted is a transaction whose records must be left out.
type aborted struct{ producer, first int64 }

func (req *fetchRequest) read(r *wireReader) (fetched, error) {
	r.int32() // throttle time
	if err := codeError(r.int16()); err != nil {
		return fetched{}, err
	}
	r.int32() // session
	if topics := r.count(1); r.err == nil && topics != 1 {
		return fetched{}, fmt.Errorf("%w: answer for %d topics", ErrCorrupt, topics)
	}
	r.skipText()
	if partitions := r.count(1); r.err == nil && partitions != 1 {
		return fetched{}, fmt.Errorf("%w: answer for %d partitions", ErrCorrupt, partitions)
	}
	r.int32() // partition
	code := r.int16()
	r.int64() // high watermark
	end := r.int64()
	r.int64() // log start
	var without []aborted
	for range r.count(16) {
		without = append(without, aborted{r.int64(), r.int64()})
	}
	r.int32() // preferred replica
	batches := r.take(max(int(r.int32()), 0))
	if r.err != nil {
		return fetched{}, fmt.Errorf("%w: fetch response: %w", ErrCorrupt, r.err)
	}
	if err := codeError(code); err != nil {
		return fetched{}, err
	}
	d := batchReader{name: req.name, partition: req.source.Partition, position: req.position, aborted: without}
	if err := d.readAll(batches); err != nil {
		return fetched{}, err
	}
	return fetched{records: d.records, next: d.position, end: end}, nil
}
