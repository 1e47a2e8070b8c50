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
	// countHeader tells which one of its owner's a record of control.v1 is, see Counted.
	countHeader = "lethe.count"
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
	// Last says of a model that its shard has none of a later timestep: what
	// followed it is gone, if something did.
	Last bool
	// Owner is who makes the model now, where several processes share that; else zero.
	Owner   Owner
	Payload []byte
	// Digest is canonical.DigestOf the payload of a message that is sent, zero if it is not known.
	Digest lethe.Digest
	// Deleted says that the artefact is gone, because its timestep is. Nothing
	// else but the key is set in a message that was read.
	Deleted bool
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
// keep their order. partitions is the topic's number of partitions. Of a message
// that is deleted, all chunks are: there are no more than an artefact can shrink by
// when what is left of it is erased.
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

// records are the message's chunks and the tombstones of those that it no longer
// has.
func (m Message) records() []ingest.Outgoing {
	if m.Deleted {
		return bus.RetractFrom(m.Key.String(), 0, 1+shrinkChunksMax)
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
	return append(chunks, bus.RetractFrom(m.Key.String(), len(chunks), len(chunks)+shrinkChunksMax)...)
}

// ErrPayload marks a message whose framing is lethe's and whose payload cannot be what
// lethe wrote under its key. The caller passes over it, see role.Surroundings.PassOver.
var ErrPayload = errors.New("payload is not what the key says")

// PayloadOf returns ErrPayload, with the reason, unless a payload could be decoded and
// is of the timestep and shard of its key.
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

// Received is a message with the position from which its partition is resumed
// once the message has been dealt with.
type Received struct {
	Message
	Partition int
	// Offset is that of the record that completed the message.
	Offset int64
	// Time is when its topic got that record.
	Time time.Time
	// Next is safe to resume from: no message that began before it is open.
	Next int64
	// Stale says of a model that somebody made it who had lost it to another owner, whose
	// messages stand before it. It counts all the same, for compaction may have left nothing else of its key,
	// and whoever reads the topic later may not see that it is stale: its lineage tells who may use it.
	// The owner says the model again unless it is the same.
	Stale bool
}

// Reader puts the messages of a topic's partitions together again.
type Reader struct {
	assemblers map[int]*bus.Assembler
	// safe is, by partition, the position before the oldest open message.
	safe map[int]int64
	// junk, if not nil, is told of records that lethe did not write.
	junk func(rec ingest.Record)
	// models tell those of who had lost a model, by its number, and leaders other messages that are left out.
	models  map[lethe.ShardID]*Fence
	leaders *Leaders
}

// NewReader returns a reader that has seen nothing.
func NewReader() *Reader {
	return &Reader{
		assemblers: make(map[int]*bus.Assembler), safe: make(map[int]int64), models: make(map[lethe.ShardID]*Fence),
		leaders: new(Leaders),
	}
}

// LedBy has the reader leave out what leaders of graphs wrote late whom these tell.
func (r *Reader) LedBy(leaders *Leaders) *Reader {
	r.leaders = leaders
	return r
}

// Skipping makes the reader pass over records that lethe did not write, and tell of
// them, where Read would return an error.
func (r *Reader) Skipping(junk func(rec ingest.Record)) *Reader {
	r.junk = junk
	return r
}

// Read takes the next batch of a partition and returns the messages that are
// now complete, or deleted. Control records are skipped. Bytes that lethe did
// not write are an error: only lethe writes these topics.
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
			stale := r.stale(m, batch.Source.Topic, rec)
			// A model is a function of slices: its lineage tells whether it is right, whoever made it.
			if m.Key.Kind == KindModel || !stale {
				out = append(out, Received{
					Message: m, Partition: p, Offset: rec.Offset, Time: rec.Time, Next: r.safe[p], Stale: stale,
				})
			}
		}
	}
	return out, nil
}

// stale reports whether another owner was heard of before. A message without an owner is of a
// process that shares with nobody: where it runs, no other does. Of a deletion its record tells the owner.
func (r *Reader) stale(m Message, t bus.Topic, rec ingest.Record) bool {
	if m.Key.Kind != KindModel {
		return r.leaders.Stale(t, rec)
	}
	if r.models[m.Key.Shard] == nil {
		r.models[m.Key.Shard] = new(Fence)
	}
	return r.models[m.Key.Shard].Stale(m.Owner)
}

// add takes a record, and returns the message that it completes.
func (*Reader) add(a *bus.Assembler, rec ingest.Record) (Message, bool, error) {
	if err := proven(rec); err != nil {
		return Message{}, false, err
	}
	payload, complete, err := a.Add(rec)
	if errors.Is(err, bus.ErrChecksum) {
		// A newer set of chunks follows; compaction tore this one.
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
