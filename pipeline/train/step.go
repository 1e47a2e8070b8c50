package train

import (
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
	"lethe/trainer"
)

// catchUpOne publishes what a crash left unpublished, then trains the column
// through its newest slice, one timestep after the other.
func (r *Role) catchUpOne(ctx context.Context, c *column) error {
	unsent, err := c.unsent()
	if err != nil {
		return fmt.Errorf("shard %d: %w", c.shard, err)
	}
	for _, t := range unsent {
		if err := r.publish(ctx, c, t); err != nil {
			return err
		}
	}
	for {
		t, ok := c.next()
		if !ok {
			return nil
		}
		if err := r.trainOne(ctx, c, t); err != nil {
			return err
		}
	}
}

// trainOne trains the shard's model on the window that ends at t, stores the
// checkpoint and publishes it.
func (r *Role) trainOne(ctx context.Context, c *column, t lethe.Timestep) error {
	started := time.Now()
	window, err := c.windowAt(t, r.runner.Engine.Config().WindowTimesteps)
	if err != nil {
		return fmt.Errorf("shard %d timestep %d: %w", c.shard, t, err)
	}
	step, err := r.runner.Column(c.shard).Advance(ctx, c.newest, window)
	if err != nil {
		return fmt.Errorf("train shard %d through timestep %d: %w", c.shard, t, err)
	}
	if err := c.store.Apply(func(w swapstore.Writer) error {
		if err := w.Set(timestepKey(checkpointPrefix, t), trainer.EncodeCheckpoint(step.Checkpoint)); err != nil {
			return err
		}
		return w.Set(timestepKey(unsentPrefix, t), nil)
	}); err != nil {
		return fmt.Errorf("shard %d: store checkpoint after timestep %d: %w", c.shard, t, err)
	}
	c.trained, c.newest = t, step.Checkpoint
	reason := events.Update
	if t <= c.replayThrough {
		reason = events.Unlearn
	}
	r.o.Listener.ShardTrained(events.ShardTrained{Timestep: t, Reason: reason, Steps: step.Report.Steps, Duration: time.Since(started)})
	return r.publish(ctx, c, t)
}

// publish sends the checkpoint after t and notes that it was sent.
func (r *Role) publish(ctx context.Context, c *column, t lethe.Timestep) error {
	value, found, err := c.store.Get(timestepKey(checkpointPrefix, t))
	if err != nil {
		return fmt.Errorf("shard %d: checkpoint after timestep %d: %w", c.shard, t, err)
	}
	if !found {
		return fmt.Errorf("shard %d: checkpoint after timestep %d is missing", c.shard, t)
	}
	key := wire.Key{Kind: wire.KindModel, Shard: c.shard, Timestep: t}
	m := wire.Message{Key: key, Revision: c.links[t].revision, Payload: value}
	if err := wire.Publish(ctx, r.o.Client, r.modelPartitions, m); err != nil {
		return fmt.Errorf("publish model of shard %d after timestep %d: %w", c.shard, t, err)
	}
	return c.store.Apply(func(w swapstore.Writer) error { return w.Delete(timestepKey(unsentPrefix, t)) })
}
