package bus

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
)

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
