package move

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// groupName is how the processes that may move records call themselves a consumer group, behind the
// topic prefix.
const groupName = "move"

// Options are what Begin is given.
type Options struct {
	Bus Bus
	// Moves says that the process plays a role that moves, which waits for no other.
	Moves bool
	// Sharer is how several such processes choose the one that moves; nil if there is no other.
	Sharer role.Sharer
	// Instance is the identity of the data directory.
	Instance string
	// Every is how often a process that does not move looks whether that was done.
	Every time.Duration
	// Now is a clock that goes on while the process is stopped.
	Now    func() time.Time
	Logger *slog.Logger
}

// Begin returns once nothing of this deployment's is left on erasure-status.v1 that belongs on
// control.v1: it moves that, or waits until another process has. What an earlier version writes beside
// this one, later, is the next start's of a process that moves.
func Begin(ctx context.Context, o Options) error {
	for told := false; ; told = true {
		l, err := leftOn(ctx, o.Bus)
		switch {
		case err != nil:
			return err
		case len(l.newest) == 0 || o.Moves && o.Sharer == nil:
			return o.move(ctx, o.Bus)
		case o.Moves:
			return o.alone(ctx)
		}
		t, err := thereOn(ctx, o.Bus)
		switch {
		case err != nil || t.whole:
			return err
		case !told:
			o.Logger.Warn("control records that an earlier version wrote to erasure-status.v1 are to be moved to control.v1: "+
				"waiting for a process of role graphs of this version, which does that at its start", "records", len(l.newest))
		}
		select {
		case <-time.After(o.Every):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// alone moves while no other process does.
func (o Options) alone(ctx context.Context) error {
	lead := role.NewLead(groupName, o.Instance, o.Sharer, o.Now, o.Logger)
	for {
		err := role.Alone(ctx, lead, func(ctx context.Context, write role.WriteFunc) error {
			return o.move(ctx, fenced{o.Bus, write})
		})
		if !errors.Is(err, role.ErrLedElsewhere) {
			return err
		}
	}
}

func (o Options) move(ctx context.Context, topics Bus) error {
	moved, err := All(ctx, topics)
	if err == nil && moved > 0 {
		o.Logger.Info("control records that an earlier version wrote to erasure-status.v1 are on control.v1 now",
			"records", moved)
	}
	return err
}

// fenced is a bus to which is written as long as the process is the one that moves.
type fenced struct {
	Bus
	write role.WriteFunc
}

// Write implements wire.Publisher.
func (f fenced) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return f.write(ctx, func(ctx context.Context) error { return f.Bus.Write(ctx, t, records) })
}
