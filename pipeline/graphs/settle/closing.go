package settle

import (
	"context"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/beside"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// closing is a timestep that closes.
type closing struct {
	*snapshot.Closing
	timestep lethe.Timestep
	started  time.Time
	// before is sent before it is.
	before *closing
	// payload and digest are its graph, once it is made.
	made    beside.Stage
	payload []byte
	digest  lethe.Digest
	// message is what is sent of it, once the store lists it as closed.
	message *wire.Message
	sent    beside.Stage
	failed  error
}

// make makes the graph, and encodes it. An error is for the loop to meet.
func (c *closing) make(ctx context.Context) {
	c.made.Do(func() {
		if g := c.Make(ctx); g != nil {
			c.payload, c.digest = canonical.SealSnapshot(g)
		}
	})
}

// send publishes the graph, once it is durable that it is one.
func (c *closing) send(ctx context.Context, topics Topics) error {
	c.sent.Do(func() {
		if c.failed = c.Sync(); c.failed != nil { // while others are sent
			return
		}
		if c.before != nil {
			if c.failed = c.before.send(ctx, topics); c.failed != nil {
				return
			}
		}
		c.failed = publishTo(ctx, topics, *c.message)
		c.before, c.payload, c.message.Payload = nil, nil, nil
	})
	return c.failed
}

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
