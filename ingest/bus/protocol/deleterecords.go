package protocol

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteRecords moves the start of a partition's log to the offset and returns the start. topic is
// the full name; timeout bounds the broker's work. It uses version 1 of the request. Errors are
// those of Fetch.
func (c Client) DeleteRecords(
	ctx context.Context, topic string, partition int, before int64, timeout time.Duration,
) (int64, error) {
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = int32(partition), before
	t := kmsg.NewDeleteRecordsRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	m := kmsg.NewPtrDeleteRecordsRequest()
	m.Version = 1
	m.TimeoutMillis = int32(timeout.Milliseconds())
	m.Topics = append(m.Topics, t)
	response, err := c.send(ctx, &call{request: m, topic: topic, partition: partition, limitBytes: 1 << 16})
	if err != nil {
		return 0, err
	}
	topics := response.(*kmsg.DeleteRecordsResponse).Topics
	if len(topics) != 1 || len(topics[0].Partitions) != 1 {
		return 0, fmt.Errorf("%w: answer to a deletion of records", ErrCorrupt)
	}
	got := topics[0].Partitions[0]
	return got.LowWatermark, codeError(got.ErrorCode)
}
