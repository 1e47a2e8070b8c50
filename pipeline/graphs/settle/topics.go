package settle

import (
	"context"

	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Topics is where graphs and slices are sent beside the loop.
type Topics interface {
	wire.Publisher
	Partitions(ctx context.Context, t bus.Topic) (int, error)
}

// publishTo publishes messages of one topic.
func publishTo(ctx context.Context, topics Topics, messages ...wire.Message) error {
	partitions, err := topics.Partitions(ctx, wire.TopicOf(messages[0].Key.Kind))
	if err != nil {
		return err
	}
	return wire.Publish(ctx, topics, partitions, messages...)
}
