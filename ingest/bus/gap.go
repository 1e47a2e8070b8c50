package bus

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"

	"lethe/ingest"
	"lethe/ingest/bus/protocol"
)

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
	gap.Detail = d.Error()
	return gap
}

func removedGap(c *Client, tp TopicPartition, from, to int64) *Gap {
	gap := newGap(c, tp, ingest.RemovedUnread, from, to)
	gap.Detail = fmt.Sprintf("offsets %d to %d: the log begins at %d", from, to-1, to)
	return gap
}

// compactionMovesStart reports whether the start of the partition's log may move
// over records that later ones replaced: in the embedded broker, unless the topic's
// records expire. Apache Kafka moves it for what was deleted only.
func compactionMovesStart(ctx context.Context, c *Client, tp TopicPartition) (bool, error) {
	if specOf(tp.Topic, &c.cfg).expires {
		return false, nil
	}
	response, err := c.kafka.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{c.Name(tp.Topic)}})
	if err != nil {
		return false, err
	}
	return response.ClusterID == EmbeddedClusterID, nil
}
