package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
)

// PartitionOf returns the partition of a key among count: murmur2, as Java's
// default partitioner does it, so that records of one key are in one
// partition, whichever client writes them.
func PartitionOf(key []byte, count int) int {
	all := make([]int, count)
	for i := range all {
		all[i] = i
	}
	return kafka.Murmur2Balancer{Consistent: true}.Balance(kafka.Message{Key: key}, all...)
}

// Partitions returns how many partitions a topic has. The error is
// ErrUnknownTopic if it has none.
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
	// The pool's knowledge may be older than the topic: ask a broker.
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

// partitionsOrLast is Partitions, or what it returned last while no broker
// answers: a write outlives a broker's restart.
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

// EndOffsets returns, by partition, the position after the last record that
// can be read now.
func (c *Client) EndOffsets(ctx context.Context, t Topic) ([]int64, error) {
	count, err := c.Partitions(ctx, t)
	if err != nil {
		return nil, err
	}
	ends := make([]int64, count)
	for p := range ends {
		if _, ends[p], err = c.logRange(ctx, TopicPartition{t, p}); err != nil {
			return nil, err
		}
	}
	return ends, nil
}

// logRange returns the first position and the one after the last.
func (c *Client) logRange(ctx context.Context, tp TopicPartition) (start, end int64, err error) {
	name := c.Name(tp.Topic)
	for e := newEffort(c, tp.String()); ; {
		start, end, err = c.logRangeOnce(ctx, name, tp.Partition)
		if err == nil {
			e.worked()
			return start, end, nil
		}
		if isMissing(err) {
			err = c.diagnose(ctx, tp, err)
		}
		if err := e.failed(ctx, err); err != nil {
			return 0, 0, fmt.Errorf("offsets of %s: %w", tp, c.diagnose(ctx, tp, err))
		}
	}
}

func (c *Client) logRangeOnce(ctx context.Context, name string, partition int) (start, end int64, err error) {
	response, err := c.kafka.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{
			name: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)},
		},
		IsolationLevel: kafka.ReadCommitted,
	})
	if err != nil {
		return 0, 0, err
	}
	for _, p := range response.Topics[name] {
		if p.Partition == partition {
			if p.Error != nil {
				return 0, 0, p.Error
			}
			return p.FirstOffset, p.LastOffset, nil
		}
	}
	return 0, 0, kafka.UnknownTopicOrPartition
}

// GroupConfig is a consumer group that shares the partitions of a topic.
type GroupConfig struct {
	// Name follows the topic prefix in the group's name.
	Name string
	// Topic is whose partitions are shared. The group reads none of them: who a partition is
	// assigned to follows it with a Tail and keeps its own position.
	Topic Topic
}

// Assigned is what a member of a group has to do, from when it is told until the next time.
type Assigned struct {
	// Generation is greater than in every assignment before, as long as brokers know the group.
	Generation int64
	// Partitions ascend; a member may have none.
	Partitions []int
}

// heartbeats is how many of them brokers get within a session.
const heartbeats = 6

// commitEvery is how often positions are committed, if they have changed.
const commitEvery = time.Second

// Sharer shares work with the other processes of a deployment.
type Sharer struct {
	Client *Client
}

// Share is a member of the group until the context ends, which is no error, and leaves it
// then. Each assignment is told, also one without partitions. While brokers are away or the
// group is rebalanced nothing is told, so a member may go on with what others do as well: who
// shares work must bear that. positions returns up to where the member's partitions are dealt
// with; a copy is committed for tools that show members and lag, and nobody reads it. Trouble
// is told, as often as it is met.
func (s Sharer) Share(
	ctx context.Context, g GroupConfig, assigned func(Assigned), positions func() map[int]int64, trouble func(error),
) error {
	c := s.Client
	dialer := &kafka.Dialer{
		ClientID: c.cfg.ClientID, Timeout: c.cfg.DialTimeout, DialFunc: newDialer(&c.cfg).DialContext,
	}
	session := c.cfg.SessionTimeout
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: c.cfg.TopicPrefix + g.Name, Brokers: c.cfg.Brokers, Dialer: dialer, Topics: []string{c.Name(g.Topic)},
		SessionTimeout: session, RebalanceTimeout: session, HeartbeatInterval: session / heartbeats,
		JoinGroupBackoff: session / heartbeats, Timeout: c.cfg.RequestTimeout,
	})
	if err != nil {
		return fmt.Errorf("consumer group %s: %w", g.Name, err)
	}
	// Leaving takes a request to a broker that may be away.
	defer func() { _ = group.Close() }()
	for {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, kafka.ErrGroupClosed):
			return fmt.Errorf("consumer group %s: %w", g.Name, err)
		case err != nil:
			if !errors.Is(err, kafka.RebalanceInProgress) {
				trouble(fmt.Errorf("consumer group %s: %w", g.Name, c.explain(ctx, err)))
			}
			continue
		}
		mine := Assigned{Generation: int64(generation.ID)}
		for _, p := range generation.Assignments[c.Name(g.Topic)] {
			mine.Partitions = append(mine.Partitions, p.ID)
		}
		slices.Sort(mine.Partitions)
		generation.Start(func(during context.Context) {
			commitCopies(during, c.Name(g.Topic), generation, mine.Partitions, positions)
		})
		assigned(mine)
	}
}

// commitCopies commits the positions of partitions as long as they are assigned.
func commitCopies(
	ctx context.Context, topic string, generation *kafka.Generation, partitions []int, positions func() map[int]int64,
) {
	ticker := time.NewTicker(commitEvery)
	defer ticker.Stop()
	committed := make(map[int]int64)
	for {
		changed := make(map[int]int64)
		now := positions()
		for _, p := range partitions {
			before, known := committed[p]
			if at, has := now[p]; has && at >= 0 && (!known || at != before) {
				changed[p] = at
			}
		}
		if len(changed) > 0 && generation.CommitOffsets(map[string]map[int]int64{topic: changed}) == nil {
			for p, at := range changed {
				committed[p] = at
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
