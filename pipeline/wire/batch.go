package wire

import (
	"context"
	"errors"
	"log/slog"

	"lethe/ingest/bus"
)

// Next waits for a tail's next batch. While no broker can be reached it says so
// in the log and goes on waiting: the role has nothing else to do.
func Next(ctx context.Context, tail *bus.Tail, log *slog.Logger) (bus.Batch, error) {
	for {
		batch, err := tail.Next(ctx)
		if !errors.Is(err, bus.ErrBrokerUnreachable) || ctx.Err() != nil {
			return batch, err
		}
		log.Warn("broker unreachable, trying again", "error", err)
	}
}
