package outofgroup

import (
	"context"
	"errors"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// Run follows answers.v1 beside the role's loop until the context ends, which is no error.
func (b *Board) Run(ctx context.Context, name string, around role.Surroundings) error {
	tail, err := around.Bus.Follow(map[bus.TopicPartition]int64{{Topic: bus.Answers}: bus.FromStart})
	if err == nil {
		err = b.follow(ctx, tail, name, around)
		err = errors.Join(err, tail.Close())
	}
	if err = wire.UnlessStopped(ctx, err); err != nil {
		return fmt.Errorf("share what models say: %w", err)
	}
	return nil
}

func (b *Board) follow(ctx context.Context, tail role.Tail, name string, around role.Surroundings) error {
	reader := wire.NewReader().Skipping(func(rec ingest.Record) { around.Junk(name, rec) })
	for {
		batch, err := tail.Next(ctx)
		if errors.Is(err, bus.ErrInterrupted) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		messages, err := reader.Read(batch)
		if err != nil {
			return err
		}
		for _, m := range b.take(batch, messages) {
			around.PassOver(name, bus.Answers, m)
		}
	}
}
