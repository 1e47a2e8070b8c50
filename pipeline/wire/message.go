package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/ingest/bus"
)

const (
	revisionHeader = "lethe.revision"
	previousHeader = "lethe.previous"
	lastHeader     = "lethe.last"
	ownerHeader    = "lethe.owner"
	// countHeader numbers an owner's records of control.v1, see Counted.
	countHeader = "lethe.count"
)

// shrinkChunks bounds by how many chunks an artefact can shrink when it is replaced; chunks beyond the new end get
// tombstones. A request names at most 1,000 transactions, of 4,096 features each: 17 MB of a graph or slice. 20 MiB are
// also 30,000 rows of 165 features that carry one subject in one timestep. Models and manifests have no rows.
func (k Key) shrinkChunks() int {
	if k.Kind == KindSnapshot || k.Kind == KindSlice {
		return 40
	}
	return 16
}

// Message is a published artefact.
type Message struct {
	Key Key
	// Revision counts replacements. It is not part of the payload, which is a function of the records.
	Revision lethe.Revision
	// Previous is the closed timestep before a snapshot's, or NoTimestep. Other kinds have it in their payload.
	Previous lethe.Timestep
	// Last means that the shard of a model has no later model: later ones are deleted.
	Last bool
	// Owner is the process that trains the model, if several do.
	Owner   Owner
	Payload []byte
	// Digest is canonical.DigestOf the payload of a message to be sent, zero if unknown.
	Digest lethe.Digest
	// Deleted means that the timestep is deleted. A message that was read has no other field then, except the key.
	Deleted bool
}

// Publisher writes records to a topic; *bus.Client is one.
type Publisher interface {
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
}

// TopicOf returns the topic of a kind.
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

// Publish writes messages of one topic as chunks, in one call. Messages of a shard keep their order. partitions is the
// topic's number of partitions. A deleted message gets as many tombstones as an artefact can have chunks when the rest
// of it is erased.
func Publish(ctx context.Context, p Publisher, partitions int, messages ...Message) error {
	var records []ingest.Outgoing
	for _, m := range messages {
		for _, rec := range m.records() {
			rec.Pinned, rec.Partition = true, PartitionOf(m.Key.Shard, partitions)
			records = append(records, rec)
		}
	}
	if len(records) == 0 {
		return nil
	}
	return p.Write(ctx, TopicOf(messages[0].Key.Kind), records)
}

// records returns the message's chunks, and tombstones of those that it no longer has.
func (m Message) records() []ingest.Outgoing {
	if m.Deleted {
		return bus.RetractFrom(m.Key.String(), 0, 1+m.Key.shrinkChunks())
	}
	headers := []ingest.Header{
		{Key: revisionHeader, Value: strconv.AppendUint(nil, uint64(m.Revision), 10)},
		{Key: previousHeader, Value: strconv.AppendInt(nil, int64(m.Previous), 10)},
	}
	if m.Last {
		headers = append(headers, ingest.Header{Key: lastHeader, Value: []byte("1")})
	}
	if m.Owner != (Owner{}) {
		headers = append(headers, ingest.Header{Key: ownerHeader, Value: []byte(m.Owner.String())})
	}
	if m.Digest.IsZero() {
		m.Digest = canonical.DigestOf(m.Payload)
	}
	chunks := bus.ChunksOf(m.Key.String(), m.Payload, m.Digest, headers, bus.DefaultChunkBytes)
	if m.Revision == 1 {
		return chunks
	}
	return append(chunks, bus.RetractFrom(m.Key.String(), len(chunks), len(chunks)+m.Key.shrinkChunks())...)
}

// ErrPayload is returned for a message with a valid frame and a payload that does not match its key. The caller
// ignores the message, see role.Surroundings.PassOver.
var ErrPayload = errors.New("payload is not what the key says")

// PayloadOf returns ErrPayload, with the reason, unless a payload was decoded and has the timestep and shard of its
// key.
func (m Message) PayloadOf(err error, t lethe.Timestep, shard lethe.ShardID) error {
	switch {
	case err != nil:
		return fmt.Errorf("message %s: %w: %w", m.Key, ErrPayload, err)
	case t != m.Key.Timestep || shard != m.Key.Shard:
		return fmt.Errorf("message %s: %w: it is of timestep %d, shard %d", m.Key, ErrPayload, t, shard)
	default:
		return nil
	}
}

// Received is a message that was read.
type Received struct {
	Message
	Partition int
	// Offset is that of the record that completed the message.
	Offset int64
	// Time is the time of that record.
	Time time.Time
	// Next is the offset to resume from: no incomplete message begins before it.
	Next int64
}

// Reader assembles the messages of a topic.
type Reader struct {
	assemblers map[int]*bus.Assembler
	// safe is the offset before the oldest incomplete message, by partition.
	safe map[int]int64
	// junk, if not nil, is called with records that lethe did not write.
	junk func(rec ingest.Record)
	// leaders identify late messages of fenced leaders.
	leaders *Leaders
}

// NewReader returns a reader that has read nothing.
func NewReader() *Reader {
	return &Reader{
		assemblers: make(map[int]*bus.Assembler), safe: make(map[int]int64), leaders: new(Leaders),
	}
}

// LedBy makes the reader ignore late messages of fenced leaders.
func (r *Reader) LedBy(leaders *Leaders) *Reader {
	r.leaders = leaders
	return r
}

// Skipping makes the reader pass records that lethe did not write to junk. Otherwise Read returns an error.
func (r *Reader) Skipping(junk func(rec ingest.Record)) *Reader {
	r.junk = junk
	return r
}

// Read adds the next batch of a partition and returns the messages that it completes or deletes. Markers are skipped. A
// record that lethe did not write is an error.
func (r *Reader) Read(batch bus.Batch) ([]Received, error) {
	p := batch.Source.Partition
	a := r.assemblers[p]
	if a == nil {
		a = bus.NewAssembler()
		r.assemblers[p] = a
	}
	if _, begun := r.safe[p]; !begun && len(batch.Records) > 0 {
		// Nothing is open where reading begins. An incomplete message there, which never completes, must not reset the
		// position to the start of the topic.
		r.safe[p] = batch.Records[0].Offset
	}
	var out []Received
	for _, rec := range batch.Records {
		m, complete, err := r.add(a, rec)
		if err != nil {
			if r.junk == nil {
				return nil, fmt.Errorf("%s/%d@%d: %w", rec.Topic, rec.Partition, rec.Offset, err)
			}
			r.junk(rec)
		}
		if a.Pending() == 0 {
			r.safe[p] = rec.Offset + 1
		}
		if complete && err == nil {
			// A model is a function of slices: its lineage shows whether it is right, whoever made it.
			if m.Key.Kind == KindModel || !r.leaders.Stale(batch.Source.Topic, rec) {
				out = append(out, Received{Message: m, Partition: p, Offset: rec.Offset, Time: rec.Time, Next: r.safe[p]})
			}
		}
	}
	return out, nil
}

// add adds a record and returns the message that it completes.
func (*Reader) add(a *bus.Assembler, rec ingest.Record) (Message, bool, error) {
	if err := proven(rec); err != nil {
		return Message{}, false, err
	}
	payload, complete, err := a.Add(rec)
	if errors.Is(err, bus.ErrChecksum) {
		// Compaction has deleted some chunks; newer ones follow.
		return Message{}, false, nil
	}
	if err != nil || !complete {
		return Message{}, false, err
	}
	m, err := messageOf(payload)
	return m, true, err
}

func messageOf(p bus.Payload) (Message, error) {
	key, err := ParseKey(p.Key)
	if err != nil {
		return Message{}, err
	}
	if p.Retracted {
		return Message{Key: key, Deleted: true}, nil
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
		case lastHeader:
			m.Last = true
		case ownerHeader:
			m.Owner, err = parseOwner(string(h.Value))
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
