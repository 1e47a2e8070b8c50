package share

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// partitions is how many answers.v1 has.
const partitions = 1

// Run follows answers.v1 beside the role's loop, and where a helper is given answers what is
// asked. It ends with the context, which is no error.
func Run(ctx context.Context, b *Board, h *Helper, around role.Surroundings) error {
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return read(running, b, h, around) })
	if h != nil {
		group.Go(func() error { return h.answer(running) })
	}
	if err := wire.UnlessStopped(ctx, group.Wait()); err != nil {
		return fmt.Errorf("share scoring: %w", err)
	}
	return nil
}

// read follows questions and answers from their start, and for a helper graphs from now on.
func read(ctx context.Context, b *Board, h *Helper, around role.Surroundings) error {
	from := map[bus.TopicPartition]int64{{Topic: bus.Answers}: bus.FromStart}
	if h != nil {
		ends, err := bus.EndsOf(ctx, around.Bus, bus.Snapshots)
		if err != nil {
			return err
		}
		for tp, end := range ends {
			from[tp] = end
		}
	}
	tail, err := around.Bus.Follow(from)
	if err != nil {
		return err
	}
	defer tail.Close() //nolint:errcheck // nothing was written
	// What lethe did not write on snapshots.v1 the role's loop tells.
	graphs := wire.NewReader().Skipping(func(ingest.Record) {})
	said := wire.NewReader().Skipping(func(rec ingest.Record) { around.Junk("score", rec) })
	for {
		batch, err := tail.Next(ctx)
		switch {
		case errors.Is(err, bus.ErrInterrupted) && ctx.Err() == nil:
			continue
		case err != nil:
			return err
		case batch.Source.Topic == bus.Answers:
			messages, err := said.Read(batch)
			if err != nil {
				return err
			}
			for _, m := range b.take(batch, messages) {
				around.PassOver("score", bus.Answers, m)
			}
		default:
			messages, err := graphs.Read(batch)
			if err != nil {
				return err
			}
			for _, m := range messages {
				h.takeGraph(m)
			}
		}
	}
}
