package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
)

const (
	revisionHeader = "lethe.revision"
	previousHeader = "lethe.previous"
)

// shrinkChunksMax bounds by how many chunks an artefact can shrink when it is
// replaced: a request names at most 1,000 transactions, so 8 MiB allow 8 KiB
// for each. The chunks beyond the new end are deleted from the topic.
const shrinkChunksMax = 16

// Message is one artefact on its way between roles.
type Message struct {
	Key Key
	// Revision counts how often the artefact was replaced. It is not part of
	// the payload, which stays a pure function of the records.
	Revision lethe.Revision
	// Previous is the closed timestep before a snapshot's, or NoTimestep. Other
	// kinds say so in their payload.
	Previous lethe.Timestep
	Payload  []byte
}

// Publisher writes records to a topic; *bus.Client is one.
type Publisher interface {
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
}

// TopicOf returns where messages of a kind travel.
func TopicOf(k Kind) bus.Topic {
	switch k {
	case KindSlice:
		return bus.Slices
	case KindModel:
		return bus.Models
	default:
		return bus.Snapshots
	}
}

// Publish cuts the messages into chunks and writes them in one call: all must
// be of kinds that share a topic. Messages of one shard share a partition and
// keep their order. partitions is the topic's number of partitions.
func Publish(ctx context.Context, p Publisher, partitions int, messages ...Message) error {
	var records []ingest.Outgoing
	for _, m := range messages {
		headers := []ingest.Header{
			{Key: revisionHeader, Value: strconv.AppendUint(nil, uint64(m.Revision), 10)},
			{Key: previousHeader, Value: strconv.AppendInt(nil, int64(m.Previous), 10)},
		}
		chunks := bus.Chunks(m.Key.String(), m.Payload, headers, bus.DefaultChunkBytes)
		for i := range chunks {
			chunks[i].Pinned, chunks[i].Partition = true, PartitionOf(m.Key.Shard, partitions)
		}
		records = append(records, chunks...)
		if m.Revision > 1 {
			tail := bus.RetractFrom(m.Key.String(), len(chunks), len(chunks)+shrinkChunksMax)
			for i := range tail {
				tail[i].Pinned, tail[i].Partition = true, PartitionOf(m.Key.Shard, partitions)
			}
			records = append(records, tail...)
		}
	}
	if len(records) == 0 {
		return nil
	}
	return p.Write(ctx, TopicOf(messages[0].Key.Kind), records)
}

// Received is a message with the position from which its partition is resumed
// once the message has been dealt with.
type Received struct {
	Message
	Partition int
	// Next is safe to resume from: no message that began before it is open.
	Next int64
}

// Reader puts the messages of a topic's partitions together again.
type Reader struct {
	assemblers map[int]*bus.Assembler
	// safe is, by partition, the position before the oldest open message.
	safe map[int]int64
}

// NewReader returns a reader that has seen nothing.
func NewReader() *Reader {
	return &Reader{assemblers: make(map[int]*bus.Assembler), safe: make(map[int]int64)}
}

// Read takes the next batch of a partition and returns the messages that are
// now complete. Retractions and control records are skipped. Bytes that
// lethe did not write are an error: only lethe writes these topics.
func (r *Reader) Read(batch bus.Batch) ([]Received, error) {
	p := batch.Source.Partition
	a := r.assemblers[p]
	if a == nil {
		a = bus.NewAssembler()
		r.assemblers[p] = a
	}
	if _, begun := r.safe[p]; !begun && len(batch.Records) > 0 {
		// Nothing is open where reading begins. What is torn there and never
		// completes must not send the position back to the topic's start.
		r.safe[p] = batch.Records[0].Offset
	}
	var out []Received
	for _, rec := range batch.Records {
		payload, complete, err := a.Add(rec)
		if errors.Is(err, bus.ErrChecksum) {
			// A newer set of chunks follows; compaction tore this one.
			continue
		}
		if err != nil {
			return nil, err
		}
		if a.Pending() == 0 {
			r.safe[p] = rec.Offset + 1
		}
		if !complete || payload.Retracted {
			continue
		}
		m, err := messageOf(payload)
		if err != nil {
			return nil, fmt.Errorf("%s/%d@%d: %w", rec.Topic, rec.Partition, rec.Offset, err)
		}
		out = append(out, Received{Message: m, Partition: p, Next: r.safe[p]})
	}
	return out, nil
}

func messageOf(p bus.Payload) (Message, error) {
	key, err := ParseKey(p.Key)
	if err != nil {
		return Message{}, err
	}
	m := Message{Key: key, Payload: p.Bytes}
	for _, h := range p.Headers {
		var err error
		switch h.Key {
		case revisionHeader:
			var n uint64
			n, err = strconv.ParseUint(string(h.Value), 10, 32)
			m.Revision = lethe.Revision(n)
		case previousHeader:
			var n int64
			n, err = strconv.ParseInt(string(h.Value), 10, 64)
			m.Previous = lethe.Timestep(n)
		}
		if err != nil {
			return Message{}, fmt.Errorf("message %s: header %s: %w", key, h.Key, err)
		}
	}
	if m.Revision == 0 {
		return Message{}, fmt.Errorf("message %s has no revision", key)
	}
	return m, nil
}
