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

// follow reads one partition until the context ends or it cannot go on. Whatever
// may pass is waited for: a broker that is away, one that does not answer, a leader
// that moves, an answer that makes no sense.
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

// complain tells of a failure that has lasted: the client's watch if it has one, and
// else Next. A failure that cannot pass is told to Next in any case.
func (t *Tail) complain(ctx context.Context, s *source, position int64, e *effort, err error) (final bool) {
	now, patience := time.Now(), t.client.cfg.DialTimeout
	lasted := now.Sub(e.since) > patience && now.Sub(e.spoken) > patience
	if isMissing(err) && (lasted || e.final(err)) { // never believed of the transport alone
		err = t.client.diagnose(ctx, s.tp, err)
	}
	if ctx.Err() != nil {
		return true
	}
	if t.client.watch != nil && errors.Is(err, ErrPastEnd) && e.final(err) {
		// Records that come later would stand at positions that were read before: an operator has
		// to look, and what is not of this partition may go on meanwhile.
		e.insist(ctx, err)
		return true
	}
	if t.client.watch != nil && (errors.Is(err, ErrUnknownTopic) || isMissing(err)) {
		// A partition that was deleted, or a topic that was made again with fewer: it may be put back.
		e.tell(err)
		return false
	}
	if e.final(err) {
		t.report(s, fmt.Errorf("follow %s from %d: %w", s.tp, position, err), true)
		return true
	}
	if t.client.watch != nil {
		e.tell(err)
	} else if lasted {
		e.spoken = now
		cause := fmt.Errorf("follow %s from %d: %w", s.tp, position, t.client.explain(ctx, err))
		t.report(s, fmt.Errorf("%w: %w", ErrInterrupted, cause), false)
	}
	return false
}

// step fetches once, hands over what there is and returns the next position.
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

// relocate decides what a position outside the log means. Where compaction moves a
// log's start, following goes on there; elsewhere records were lost, which is told.
func (t *Tail) relocate(ctx context.Context, s *source, position int64) (int64, error) {
	of := ranges{client: t.client, topic: s.tp.Topic}
	start, end, err := of.partition(ctx, s.tp.Partition)
	switch {
	case err != nil:
		return 0, err
	case position > end && !of.said.Whole:
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

// emptied hands over that nothing is left of a partition that held something: nothing else would tell whoever
// waits until it was read to its end.
func (t *Tail) emptied(ctx context.Context, s *source, start, end int64) error {
	if start < end || end == 0 {
		return nil
	}
	return t.deliver(ctx, s, []Batch{{Source: s.tp, Next: end, End: end}})
}

// stepOver hands over a gap in place of records.
func (t *Tail) stepOver(ctx context.Context, s *source, gap *Gap, end int64) error {
	return t.deliver(ctx, s, []Batch{{Source: s.tp, Next: gap.To, End: end, Gap: gap}})
}

// split cuts what was fetched into batches. Only the last one steps over what
// compaction took from the end.
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

// EmbeddedClusterID names the embedded broker's cluster.
const EmbeddedClusterID = "lethe"

// Gap is a stretch of a partition that was not read and never will be. Whoever
// reads must say so.
type Gap struct {
	// Topic is the topic's full name.
	Topic     string
	Partition int
	// Reason is ingest.CorruptBatch or ingest.RemovedUnread.
	Reason ingest.Reason
	// From is the first offset of it, To the one behind it.
	From, To int64
	// Detail says what is known of it, without any content.
	Detail string
	// Bytes is how much of the log it is, and SHA256 what that hashes to; 0 if it was not read.
	Bytes  int
	SHA256 [sha256.Size]byte
}

// Letter is what a dead letter tells of the gap.
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

// compactionMovesStart reports whether the start of the partition's log may move
// over records that later ones replaced: in the embedded broker, unless the topic's
// records expire, as lethe wants it or as its settings are now. Apache Kafka moves it
// for what was deleted only.
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

// expiresUnder reports whether records expire under settings of a topic: the embedded broker applies retention to
// compacted topics, too.
func expiresUnder(settings map[string]string) bool {
	for _, name := range []string{"retention.ms", "retention.bytes"} {
		if value := settings[name]; value != "" && value != "-1" {
			return true
		}
	}
	return false
}
