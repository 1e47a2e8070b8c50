package bus

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"lethe/ingest"
	"lethe/ingest/bus/protocol"
	"lethe/internal/sleep"
)

// follow reads one partition until the context ends or an error is final. It retries
// temporary failures: a broker that is down or does not respond, a leader that moves, a
// malformed response.
func (t *Tail) follow(ctx context.Context, s *source, position int64) {
	e := newEffort(t.client, s.tp.String())
	defer e.abandoned()
	from := &nearest{rack: t.client.cfg.Rack, tp: s.tp}
	for {
		next, err := t.step(ctx, s, from, position)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			position = next
			e.worked()
			continue
		}
		if t.complain(ctx, s, position, e, err) || pause(ctx, e.attempt) != nil {
			return
		}
		e.attempt++
	}
}

// complain reports a failure that has lasted: to the client's watch if it has one, and
// else to Next. A final failure is always reported to Next.
func (t *Tail) complain(ctx context.Context, s *source, position int64, e *effort, err error) (final bool) {
	now, patience := time.Now(), t.client.cfg.DialTimeout
	lasted := now.Sub(e.since) > patience && now.Sub(e.spoken) > patience
	if isMissing(err) && (lasted || e.final(err)) { // the transport alone is not trusted
		err = t.client.diagnose(ctx, s.tp, err)
	}
	if ctx.Err() != nil {
		return true
	}
	if t.client.watch != nil && errors.Is(err, ErrPastEnd) && e.final(err) {
		// Later records would get offsets that were already read: an operator has to
		// check, and other partitions may continue meanwhile.
		t.client.watch(e.place, err)
		return true
	}
	if t.client.watch != nil && (errors.Is(err, ErrUnknownTopic) || isMissing(err)) {
		// A partition was deleted, or a topic was created again with fewer: it may be
		// restored.
		e.report(err)
		return false
	}
	if e.final(err) {
		t.report(s, fmt.Errorf("follow %s from %d: %w", s.tp, position, err), true)
		return true
	}
	if t.client.watch != nil {
		e.report(err)
	} else if lasted {
		e.spoken = now
		cause := fmt.Errorf("follow %s from %d: %w", s.tp, position, t.client.explain(ctx, err))
		t.report(s, fmt.Errorf("%w: %w", ErrInterrupted, cause), false)
	}
	return false
}

// step fetches once, delivers the records and returns the next position.
func (t *Tail) step(ctx context.Context, s *source, from *nearest, position int64) (int64, error) {
	if position == FromStart {
		start, end, err := t.client.logRange(ctx, s.tp)
		if err != nil {
			return 0, err
		}
		return start, t.emptied(ctx, s, start, end)
	}
	got, err := from.fetch(ctx, t.client, position)
	if errors.Is(err, kafka.OffsetOutOfRange) {
		return t.relocate(ctx, s, position)
	}
	if err != nil {
		return 0, err
	}
	if got.Damaged != nil {
		return got.Next, t.stepOver(ctx, s, damagedGap(t.client, s.tp, got.Damaged), got.End)
	}
	if got.Next == position {
		return position, nil
	}
	if err := t.deliver(ctx, s, split(s.tp, got, t.client.cfg.MaxTailRecords)); err != nil || got.Next < got.End {
		return got.Next, err
	}
	return got.Next, sleep.For(ctx, t.gather[s.tp.Topic])
}

// relocate handles a position outside the log. If compaction may move the log's start,
// following continues at the start; otherwise records were lost, which is reported as a
// gap.
func (t *Tail) relocate(ctx context.Context, s *source, position int64) (int64, error) {
	of := ranges{client: t.client, topic: s.tp.Topic}
	start, end, err := of.partition(ctx, s.tp.Partition)
	switch {
	case err != nil:
		return 0, err
	case position > end && !of.leaders.Whole:
		return 0, fmt.Errorf("%w (%w)", PastEnd(end), errDoubtful)
	case position > end:
		return 0, PastEnd(end)
	case position >= start:
		return position, nil
	}
	compacted, err := compactionMovesStart(ctx, t.client, s.tp)
	if err != nil {
		return 0, err
	}
	if compacted {
		return start, t.emptied(ctx, s, start, end)
	}
	return start, t.stepOver(ctx, s, removedGap(t.client, s.tp, position, start), end)
}

// emptied delivers an empty batch for a partition whose records are all gone: otherwise a caller
// that waits for the end of the partition would wait forever.
func (t *Tail) emptied(ctx context.Context, s *source, start, end int64) error {
	if start < end || end == 0 {
		return nil
	}
	return t.deliver(ctx, s, []Batch{{Source: s.tp, Next: end, End: end}})
}

// stepOver delivers a gap in place of records.
func (t *Tail) stepOver(ctx context.Context, s *source, gap *Gap, end int64) error {
	return t.deliver(ctx, s, []Batch{{Source: s.tp, Next: gap.To, End: end, Gap: gap}})
}

// split divides the fetched records into batches. Only the last one moves over offsets at
// the end that compaction removed.
func split(tp TopicPartition, got protocol.Fetched, most int) []Batch {
	var out []Batch
	records := got.Records
	for len(records) > most {
		out = append(out, Batch{
			Source: tp, Records: records[:most:most], Next: records[most-1].Offset + 1, End: got.End,
		})
		records = records[most:]
	}
	return append(out, Batch{Source: tp, Records: records, Next: got.Next, End: got.End})
}

// EmbeddedClusterID is the cluster id of the embedded broker.
const EmbeddedClusterID = "lethe"

// Gap is a range of a partition that was not read and never will be. Readers must report
// it.
type Gap struct {
	// Topic is the topic's full name.
	Topic     string
	Partition int
	// Reason is ingest.CorruptBatch or ingest.RemovedUnread.
	Reason ingest.Reason
	// From is the first offset of the gap, To the one after its last.
	From, To int64
	// Detail describes the gap, without any content.
	Detail string
	// Bytes is the length of the gap in the log, and SHA256 its hash; 0 if it was not read.
	Bytes  int
	SHA256 [sha256.Size]byte
}

// Letter returns the record and the refusal for the dead letter of the gap.
func (g *Gap) Letter() (ingest.Record, *ingest.Refusal) {
	return ingest.Record{Topic: g.Topic, Partition: g.Partition, Offset: g.From},
		&ingest.Refusal{Reason: g.Reason, Detail: g.Detail}
}

func newGap(c *Client, tp TopicPartition, reason ingest.Reason, from, to int64) *Gap {
	return &Gap{Topic: c.Name(tp.Topic), Partition: tp.Partition, Reason: reason, From: from, To: to}
}

func damagedGap(c *Client, tp TopicPartition, d *protocol.DamageError) *Gap {
	gap := newGap(c, tp, ingest.CorruptBatch, d.From, d.To)
	gap.Detail, gap.Bytes, gap.SHA256 = d.Error(), d.Bytes, d.SHA256
	return gap
}

func removedGap(c *Client, tp TopicPartition, from, to int64) *Gap {
	gap := newGap(c, tp, ingest.RemovedUnread, from, to)
	gap.Detail = fmt.Sprintf("offsets %d to %d: the log begins at %d", from, to-1, to)
	return gap
}

// compactionMovesStart reports whether the start of the partition's log may move over
// records that later ones replaced: true in the embedded broker, unless the topic's
// records expire, by lethe's configuration or by the topic's current settings. Apache
// Kafka moves it only over deleted records.
func compactionMovesStart(ctx context.Context, c *Client, tp TopicPartition) (bool, error) {
	if specOf(tp.Topic, &c.cfg).expires {
		return false, nil
	}
	response, err := c.kafka.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{c.Name(tp.Topic)}})
	if err != nil {
		return false, err
	}
	if response.ClusterID != EmbeddedClusterID {
		return false, nil
	}
	found, err := c.Admin().settings(ctx, []Topic{tp.Topic})
	if err != nil {
		return false, err
	}
	return !expiresUnder(found[tp.Topic]), nil
}

// expiresUnder reports whether records expire under a topic's settings: the embedded broker applies
// retention to compacted topics, too.
func expiresUnder(settings map[string]string) bool {
	for _, name := range []string{"retention.ms", "retention.bytes"} {
		if value := settings[name]; value != "" && value != "-1" {
			return true
		}
	}
	return false
}
