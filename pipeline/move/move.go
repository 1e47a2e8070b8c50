package move

import (
	"context"
	"fmt"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Bus is what is moved within; *bus.Client is one.
type Bus interface {
	wire.Publisher
	wire.WholeTopics
}

// together bounds the records that are written in one call.
const together = 500

// All moves what is left, and returns how many records that were: it copies them, keeps earlier
// versions away with the guard, copies what these wrote until they read it, says that control.v1 is whole
// (Moved), and deletes what was left.
//
// Killed before Moved is there it copies all again the next time, and deletes what it had copied and is
// no longer left, for an earlier version may have run since. Killed later it deletes what was left. What
// is written there afterwards is of an earlier version that has run beside or in between, and must not:
// it counts where it is newer than what control.v1 has of it.
//
// Where everything is of others, with another secret, nothing is written: whoever compares settings
// says so.
func All(ctx context.Context, topics Bus) (moved int, err error) {
	l, err := leftOn(ctx, topics)
	if err != nil {
		return 0, err
	}
	t, err := thereOn(ctx, topics)
	if err != nil || (l.foreign || t.foreign) && !t.whole && len(l.newest)+len(t.keys) == 0 {
		return 0, err
	}
	moved = len(l.newest)
	if t.whole {
		err = write(ctx, topics, bus.Control, l.since(t).copies())
		if err == nil && moved > 0 {
			err = l.guard(ctx, topics)
		}
	} else {
		l, err = l.whole(ctx, topics, t)
	}
	if err != nil {
		return 0, fmt.Errorf("move control records: %w", err)
	}
	if err := write(ctx, topics, bus.ErasureStatus, l.deleted()); err != nil {
		return 0, fmt.Errorf("delete control records that were moved: %w", err)
	}
	return moved, nil
}

// whole copies what is left until nothing is written there any more, and says so. It returns what is left
// in the end.
func (l left) whole(ctx context.Context, topics Bus, t there) (left, error) {
	for more := len(l.newest) > 0; more; {
		if err := write(ctx, topics, bus.Control, append(l.copies(), l.dropped(t)...)); err != nil {
			return l, err
		}
		for key := range l.newest {
			t.keys[key] = true
		}
		if err := l.guard(ctx, topics); err != nil {
			return l, err
		}
		now, err := leftOn(ctx, topics)
		if err != nil {
			return l, err
		}
		more = !l.same(now)
		l = now
	}
	return l, write(ctx, topics, bus.Control, []ingest.Outgoing{wire.Moved()})
}

// guard keeps earlier versions away.
func (l left) guard(ctx context.Context, topics Bus) error {
	if l.guarded {
		return nil
	}
	guard, err := wire.Guard()
	if err != nil {
		return err
	}
	return write(ctx, topics, bus.ErasureStatus, []ingest.Outgoing{guard})
}

func write(ctx context.Context, topics Bus, t bus.Topic, records []ingest.Outgoing) error {
	for some := range slices.Chunk(records, together) {
		if err := topics.Write(ctx, t, some); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	return nil
}
