package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"

	"lethe/ingest"
	"lethe/ingest/bus/leaders"
	"lethe/ingest/bus/protocol"
)

// PartitionOf returns the partition of a key among count partitions, as a Partitioner
// does.
func PartitionOf(key []byte, count int) int { return NewPartitioner(count).Of(key) }

// Partitioner assigns keys to partitions by murmur2, like Java's default partitioner, so that
// records of one key are in one partition, whichever client writes them.
type Partitioner struct{ all []int }

// NewPartitioner returns a Partitioner for a number of partitions.
func NewPartitioner(count int) Partitioner {
	all := make([]int, count)
	for i := range all {
		all[i] = i
	}
	return Partitioner{all}
}

// Of returns the partition of a key.
func (p Partitioner) Of(key []byte) int {
	return kafka.Murmur2Balancer{Consistent: true}.Balance(kafka.Message{Key: key}, p.all...)
}

// Partitions returns the number of partitions of a topic. The error is ErrUnknownTopic if there are none.
func (c *Client) Partitions(ctx context.Context, t Topic) (count int, err error) {
	err = until(ctx, c, string(t), func() error {
		count, err = partitionsOnce(ctx, c, t)
		return err
	})
	return count, err
}

func partitionsOnce(ctx context.Context, c *Client, t Topic) (int, error) {
	name := c.Name(t)
	response, err := c.kafka.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{name}})
	if err == nil {
		for _, found := range response.Topics {
			if found.Name == name && found.Error == nil && len(found.Partitions) > 0 {
				return len(found.Partitions), nil
			}
		}
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("partitions of %s: %w", t, errors.Join(ctx.Err(), err))
	}
	// The transport's metadata may be older than the topic: query a broker.
	states, _, err := c.topicStates(ctx, t)
	if err == nil {
		err = states[t].err
	}
	if err != nil {
		return 0, fmt.Errorf("partitions of %s: %w", t, err)
	}
	if states[t].partitions == 0 {
		return 0, fmt.Errorf("%w: %s", ErrUnknownTopic, t)
	}
	return states[t].partitions, nil
}

// partitionsOrLast is Partitions, or its last result while no broker responds: a write
// survives a broker's restart.
func (c *Client) partitionsOrLast(ctx context.Context, t Topic) (int, error) {
	count, err := partitionsOnce(ctx, c, t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.partitions[t] = count
		return count, nil
	}
	if last := c.partitions[t]; last > 0 && errors.Is(err, ErrBrokerUnreachable) {
		return last, nil
	}
	return 0, err
}

// EndOffsets returns, by partition, the offset after the last record that can be read
// now.
func (c *Client) EndOffsets(ctx context.Context, t Topic) ([]int64, error) {
	return (&ranges{client: c, topic: t}).ends(ctx)
}

// HighWatermarks returns, by partition, the offset after the last record that was written. Records
// of an open transaction, and those after it, cannot be read: their offsets are not below
// EndOffsets.
func HighWatermarks(ctx context.Context, c *Client, t Topic) ([]int64, error) {
	return (&ranges{client: c, topic: t, uncommitted: true}).ends(ctx)
}

// EndsOf returns the ends of all partitions of topics, as EndOffsets does for one topic.
func EndsOf(
	ctx context.Context, of interface {
		EndOffsets(ctx context.Context, t Topic) ([]int64, error)
	}, topics ...Topic,
) (map[TopicPartition]int64, error) {
	ends := make(map[TopicPartition]int64)
	for _, topic := range topics {
		list, err := of.EndOffsets(ctx, topic)
		if err != nil {
			return nil, fmt.Errorf("ends of %s: %w", topic, err)
		}
		for p, end := range list {
			ends[TopicPartition{topic, p}] = end
		}
	}
	return ends, nil
}

// logRange returns the first offset and the one after the last. The end is not before the last
// record that could be read when logRange was called, provided that all brokers have responded:
// then a previous leader that does not know of its successor is not trusted.
func (c *Client) logRange(ctx context.Context, tp TopicPartition) (start, end int64, err error) {
	of := ranges{client: c, topic: tp.Topic}
	return of.partition(ctx, tp.Partition)
}

// ranges queries where the logs of a topic's partitions begin and end.
type ranges struct {
	client *Client
	topic  Topic
	// uncommitted means that a log ends after its last record, also while a transaction is
	// open.
	uncommitted bool
	// leaders is the brokers' information about leaders, nil before the query.
	leaders *leaders.Result
}

// ends returns the end offset of each partition's log.
func (r *ranges) ends(ctx context.Context) ([]int64, error) {
	count, err := r.client.Partitions(ctx, r.topic)
	if err != nil {
		return nil, err
	}
	ends := make([]int64, count)
	for p := range ends {
		if _, ends[p], err = r.partition(ctx, p); err != nil {
			return nil, err
		}
	}
	return ends, nil
}

func (r *ranges) partition(ctx context.Context, number int) (start, end int64, err error) {
	c, tp := r.client, TopicPartition{r.topic, number}
	e := newEffort(c, tp.String())
	defer e.abandoned()
	for {
		start, end, err = r.once(ctx, number, e.lasted())
		if err == nil {
			e.worked()
			return start, end, nil
		}
		r.leaders = nil
		switch {
		case errors.Is(err, kafka.UnknownLeaderEpoch):
			err = fmt.Errorf("brokers name different leaders: %w", err)
		case isMissing(err):
			err = c.diagnose(ctx, tp, err)
		}
		if err := e.failed(ctx, err); err != nil {
			return 0, 0, fmt.Errorf("offsets of %s: %w", tp, c.diagnose(ctx, tp, err))
		}
	}
}

// once makes one attempt: with the leader of the newest epoch, or with any claimed leader if anyLeader is set.
func (r *ranges) once(ctx context.Context, number int, anyLeader bool) (start, end int64, err error) {
	if r.leaders == nil {
		if r.leaders, err = r.survey(ctx); err != nil {
			return 0, 0, err
		}
	}
	epoch, known := r.leaders.Epochs[number]
	if !known || anyLeader {
		epoch = protocol.NoEpoch
	}
	ctx, cancel := context.WithTimeout(ctx, r.client.cfg.RequestTimeout)
	defer cancel()
	return r.client.raw.LogRange(ctx, r.client.Name(r.topic), number, epoch, r.uncommitted)
}

func (r *ranges) survey(ctx context.Context) (*leaders.Result, error) {
	name := r.client.Name(r.topic)
	cluster, err := r.client.kafka.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{name}})
	if err != nil {
		return nil, err
	}
	brokers := make([]int32, len(cluster.Brokers))
	for i, b := range cluster.Brokers {
		brokers[i] = int32(b.ID)
	}
	leaders := r.client.leaders.Ask(ctx, brokers, name)
	return &leaders, nil
}

// ReadFrom is ReadAround of a partition from a position on. It returns where the partition ends.
func ReadFrom(
	ctx context.Context, c *Client, tp TopicPartition, from int64, fn func(ingest.Record) error, around func(*Gap),
) (end int64, err error) {
	if end, err = c.readPartition(ctx, reading{TopicPartition: tp, from: from, around: around}, fn); err != nil {
		return 0, fmt.Errorf("read %s: %w", tp, err)
	}
	return end, nil
}
