package timesteps

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

// closing is the closing of a timestep.
type closing struct {
	*snapshot.Closing
	timestep lethe.Timestep
	started  time.Time
	// before is sent first.
	before *closing
	// payload and digest are the graph, once it is made.
	made    beside.Stage
	payload []byte
	digest  lethe.Digest
	// message is set once the store lists it as closed.
	message *wire.Message
	sent    beside.Stage
	failed  error
}

// make builds and encodes the graph. The loop will get its errors.
func (c *closing) make(ctx context.Context) {
	c.made.Do(func() {
		if g := c.Make(ctx); g != nil {
			c.payload, c.digest = canonical.SealSnapshot(g)
		}
	})
}

// send publishes the graph once it is durable.
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

// Topics sends graphs and slices beside the loop.
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
