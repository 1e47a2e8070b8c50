package protocol

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// NoEpoch queries the leader of any epoch.
const NoEpoch int32 = -1

const (
	earliest int64 = -2
	latest   int64 = -1
)

// LogRange queries the leader of a partition for the first offset and the one after the last record that can be
// read as committed or, if uncommitted is set, after the last one of the log. topic is the full name. A leader of
// another epoch than the given one rejects the request (KIP-320), with kafka.UnknownLeaderEpoch or
// kafka.FencedLeaderEpoch. It uses version 4 of the request. Errors are those of Fetch.
func (c Client) LogRange(
	ctx context.Context, topic string, partition int, epoch int32, uncommitted bool,
) (start, end int64, err error) {
	level := isolation(uncommitted)
	if start, err = c.offset(ctx, topic, partition, epoch, earliest, level); err != nil {
		return 0, 0, err
	}
	end, err = c.offset(ctx, topic, partition, epoch, latest, level)
	return start, end, err
}

func (c Client) offset(
	ctx context.Context, topic string, partition int, epoch int32, timestamp int64, level int8,
) (int64, error) {
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.CurrentLeaderEpoch, p.Timestamp = int32(partition), epoch, timestamp
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	m := kmsg.NewPtrListOffsetsRequest()
	m.Version, m.ReplicaID, m.IsolationLevel = 4, -1, level
	m.Topics = append(m.Topics, t)
	response, err := c.send(ctx, &call{request: m, topic: topic, partition: partition, limitBytes: 1 << 16})
	if err != nil {
		return 0, err
	}
	topics := response.(*kmsg.ListOffsetsResponse).Topics
	if len(topics) != 1 || len(topics[0].Partitions) != 1 {
		return 0, fmt.Errorf("%w: answer to a request for offsets of %s/%d", ErrCorrupt, topic, partition)
	}
	got := topics[0].Partitions[0]
	return got.Offset, codeError(got.ErrorCode)
}
