package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/metrics/events"
	"lethe/pipeline/role"
)

// advance trains every shard that has a slice to train on through one timestep,
// side by side. The checkpoints are stored with the mark that they have not been
// published.
func (l *logic) advance(ctx context.Context, now func() time.Time) error {
	return l.runner.Each(ctx, len(l.columns), func(ctx context.Context, shard int) error {
		t, due := l.columns[shard].next()
		if !due {
			return nil
		}
		return l.advanceShard(ctx, l.columns[shard], t, now)
	})
}

// advanceShard trains a shard's model on the window that ends at t and stores
// the checkpoint.
func (l *logic) advanceShard(ctx context.Context, c *column, t lethe.Timestep, now func() time.Time) error {
	started := now()
	window, err := c.windowAt(t, l.runner.Engine.Config().WindowTimesteps)
	if err != nil {
		return fmt.Errorf("shard %d timestep %d: %w", c.shard, t, err)
	}
	step, err := l.runner.Column(c.shard).Advance(ctx, c.newest, window)
	if err != nil {
		return fmt.Errorf("train shard %d through timestep %d: %w", c.shard, t, err)
	}
	if err := c.trainedThrough(t, step.Checkpoint); err != nil {
		return fmt.Errorf("shard %d: store checkpoint after timestep %d: %w", c.shard, t, err)
	}
	reason := events.Update
	if t <= c.replayThrough {
		reason = events.Unlearn
	}
	l.o.Listener.ShardTrained(events.ShardTrained{
		Timestep: t, Reason: reason, Steps: step.Report.Steps, Duration: now().Sub(started),
	})
	return nil
}

// unpublished reports whether a checkpoint waits to be published.
func (l *logic) unpublished() bool {
	return slices.ContainsFunc(l.columns, func(c *column) bool { return len(c.unsent) > 0 })
}

// publish sends the oldest checkpoint of every shard that has not been published.
// That they were sent is noted side by side: every note waits for the disk.
func (l *logic) publish(ctx context.Context) (role.Output, error) {
	var out role.Output
	var due []*column
	for _, c := range l.columns {
		if len(c.unsent) == 0 {
			continue
		}
		m, err := c.message(c.unsent[0])
		if err != nil {
			return out, err
		}
		out.Messages = append(out.Messages, m)
		due = append(due, c)
	}
	out.Note = func() error {
		return l.runner.Each(ctx, len(due), func(_ context.Context, i int) error { return due[i].sent() })
	}
	return out, nil
}
