package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/internal/sortedset"
	"lethe/pipeline/wire"
)

// SayAgain publishes the commands and entries of requests with some keys of control.v1 again: a previous leader has
// written other records with these keys late. Readers ignore these, but compaction would leave nothing else.
func (c *Coordinator) SayAgain(ctx context.Context, keys []string) error {
	for _, key := range sortedset.Of(keys) {
		id, command := wire.RequestOf(key)
		if id == "" {
			continue
		}
		e, err := c.states.o.Ledger.Get(id)
		switch {
		case err != nil && !errors.Is(err, deletions.ErrUnknownRequest):
			return err
		case err == nil && !command:
			err = c.states.out.copies(ctx, []deletions.Entry{e})
		case command:
			err = c.states.cancelled.commandAgain(ctx, key, id, e)
		default:
			err = nil // the request is unknown
		}
		if err != nil {
			return fmt.Errorf("say again what stands of request %s: %w", id, err)
		}
	}
	return nil
}

// TellAgain is SayAgain for keys of erasure-status.v1: users would read an earlier state of a request or a hold, and
// the next leader would start from that hold. Nothing is published of what the ledger does not know: this process has
// not read yet what it comes from, and publishes it when it does.
func (c *Coordinator) TellAgain(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	o, all := c.states.o, sortedset.Of(keys)
	holds, err := o.Ledger.Holds()
	if err != nil {
		return err
	}
	holds = slices.DeleteFunc(holds, func(h deletions.Hold) bool { return !slices.Contains(all, h.Key()) })
	if err := SayHolds(ctx, o.Bus, o.Secret, o.SigningKey, holds...); err != nil {
		return fmt.Errorf("tell again of holds: %w", err)
	}
	var statuses []deletions.Status
	for _, key := range all {
		e, err := o.Ledger.Get(key)
		if errors.Is(err, deletions.ErrUnknownRequest) {
			continue
		}
		if err != nil {
			return fmt.Errorf("tell again of request %s: %w", key, err)
		}
		statuses = append(statuses, e.Status())
	}
	return c.states.out.publish(ctx, statuses)
}

// LogAgain is TellAgain for records of log.v1 that were read since this process leads.
func (c *Coordinator) LogAgain(ctx context.Context, read []ingest.Record) error {
	return c.states.o.Log.PublishAgain(ctx, c.states.o.Bus, read)
}
