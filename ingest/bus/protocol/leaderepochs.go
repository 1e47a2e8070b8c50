package protocol

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// LeaderEpochs queries one broker for the current leader epoch of each partition of a topic, as far as that broker
// knows. topic is the full name; partitions without an epoch, and a topic that the broker does not know or does
// not show, are left out. It uses version 8 of the request. Errors are those of Fetch.
func (c Client) LeaderEpochs(ctx context.Context, broker int32, topic string) (map[int]int32, error) {
	const limitBytes = 8 << 20
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &topic
	m := kmsg.NewPtrMetadataRequest()
	m.Version, m.AllowAutoTopicCreation = 8, false
	m.Topics = append(m.Topics, asked)
	response, err := c.send(ctx, &call{request: m, broker: &broker, limitBytes: limitBytes})
	if err != nil {
		return nil, err
	}
	epochs := make(map[int]int32)
	for _, metadata := range response.(*kmsg.MetadataResponse).Topics {
		if metadata.Topic == nil || *metadata.Topic != topic {
			continue
		}
		for _, p := range metadata.Partitions {
			if p.LeaderEpoch >= 0 {
				epochs[int(p.Partition)] = p.LeaderEpoch
			}
		}
	}
	return epochs, nil
}
