package intake

import (
	"fmt"
	"slices"

	"lethe/ingest/bus"
	"lethe/snapshot"
)

// commits are batches that were stored and need not be durable yet: the loop goes on with the next while the disk
// works. Of none of them is said that it was consumed.
type commits struct {
	store *snapshot.Store
	// wake has the role step when one is durable.
	wake func()
	// most is how many may be on their way to the disk; of 0 each is waited for.
	most    int
	pending []*commit
}

// commit is a batch that was stored.
type commit struct {
	at snapshot.TopicPartition
	// before is where the partition is resumed if the batch is lost, unless it is resumed at its start.
	before int64
	known  bool
	// failed is set once ended is closed.
	ended  chan struct{}
	failed error
}

// commit stores a batch. An error may be that of an earlier one.
func (c *commits) commit(b *snapshot.Batch, source bus.TopicPartition, next int64) error {
	if c.most == 0 {
		return b.Commit(next)
	}
	for len(c.pending) >= c.most {
		<-c.pending[0].ended
		if err := c.settle(); err != nil {
			return err
		}
	}
	p := &commit{
		at:    snapshot.TopicPartition{Topic: string(source.Topic), Partition: source.Partition},
		ended: make(chan struct{}),
	}
	p.before, p.known = c.store.Offsets()[p.at]
	err := snapshot.CommitAhead(b, next, func(err error) {
		p.failed = err
		close(p.ended)
		c.wake()
	})
	if err == nil {
		c.pending = append(c.pending, p)
	}
	return err
}

// settle forgets those that are durable.
func (c *commits) settle() error {
	for len(c.pending) > 0 {
		select {
		case <-c.pending[0].ended:
			if err := c.pending[0].failed; err != nil {
				return fmt.Errorf("%s partition %d: %w", c.pending[0].at.Topic, c.pending[0].at.Partition, err)
			}
			c.pending = c.pending[1:]
		default:
			return nil
		}
	}
	return nil
}

// durable returns up to where partitions are in durable state.
func (c *commits) durable() map[snapshot.TopicPartition]int64 {
	offsets := c.store.Offsets()
	for _, p := range slices.Backward(c.pending) {
		if offsets[p.at] = p.before; !p.known {
			delete(offsets, p.at)
		}
	}
	return offsets
}
