package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/trainer"
)

// trainedTogether is how many checkpoints are trained before they are stored and
// published, if it takes no longer because few shards have more than one to train: each
// time waits for the disk and the broker.
const trainedTogether = 16

// advance trains every shard that has slices to train on, side by side. The
// checkpoints are stored with the mark that they have not been published.
func (l *logic) advance(ctx context.Context, now func() time.Time) error {
	var due []*column
	for _, c := range l.columns {
		if _, found := c.next(); found {
			due = append(due, c)
		}
	}
	if len(due) == 0 {
		return nil
	}
	most := max(1, trainedTogether/len(due))
	return l.runner.Each(ctx, len(due), func(ctx context.Context, i int) error {
		return l.advanceShard(ctx, due[i], most, now)
	})
}

// advanceShard trains a shard's model through the next timesteps, at most so many, and
// stores the checkpoints.
func (l *logic) advanceShard(ctx context.Context, c *column, most int, now func() time.Time) error {
	var steps []trained
	at, newest := c.trained, c.newest
	for len(steps) < most {
		t, found := c.after(at)
		if !found {
			break
		}
		checkpoint, err := l.trainStep(ctx, c, newest, t, now)
		if err != nil {
			return err
		}
		steps = append(steps, trained{t, checkpoint})
		at, newest = t, checkpoint
	}
	if err := c.trainedThrough(steps...); err != nil {
		return fmt.Errorf("shard %d: store checkpoints from timestep %d on: %w", c.shard, steps[0].at, err)
	}
	return nil
}

// trainStep trains a shard's model on the window that ends at t.
func (l *logic) trainStep(
	ctx context.Context, c *column, newest *trainer.Checkpoint, t lethe.Timestep, now func() time.Time,
) (*trainer.Checkpoint, error) {
	started := now()
	window, err := c.windowAt(l.runner.Engine.Config(), t)
	if err != nil {
		return nil, fmt.Errorf("shard %d timestep %d: %w", c.shard, t, err)
	}
	step, err := l.runner.Column(c.shard).Advance(ctx, newest, window)
	if err != nil {
		return nil, fmt.Errorf("train shard %d through timestep %d: %w", c.shard, t, err)
	}
	reason := events.Update
	if t <= c.replayThrough {
		reason = events.Unlearn
	}
	l.o.Listener.ShardTrained(events.ShardTrained{
		Timestep: t, Reason: reason, Steps: step.Report.Steps, Duration: now().Sub(started),
	})
	return step.Checkpoint, nil
}

// unpublished reports whether a checkpoint waits to be published.
func (l *logic) unpublished() bool {
	return slices.ContainsFunc(l.columns, (*column).unpublished)
}

// publish sends of every shard what it has to publish next.
// That they were sent is noted side by side: every note waits for the disk.
func (l *logic) publish(ctx context.Context) (role.Output, error) {
	var out role.Output
	var due []*column
	for _, c := range l.columns {
		if !c.unpublished() {
			continue
		}
		messages, err := c.due()
		if err != nil {
			return out, err
		}
		out.Messages = append(out.Messages, messages...)
		due = append(due, c)
	}
	out.Note = func() error {
		return l.runner.Each(ctx, len(due), func(_ context.Context, i int) error { return due[i].sent() })
	}
	return out, nil
}
