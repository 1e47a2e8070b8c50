package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/internal/sortedset"
	"lethe/pipeline/wire"
)

// PublishAgain publishes the records of some keys of control.v1 and erasure-status.v1 again, after late records of a
// fenced leader. Readers of control.v1 ignore late records, but compaction would leave nothing else, and users would
// read an earlier state. Keys that the ledger does not know are skipped: this process has not read their requests yet.
func (c *Coordinator) PublishAgain(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	o, all := c.states.o, sortedset.Of(keys)
	holds, err := o.Ledger.Holds()
	if err != nil {
		return err
	}
	holds = slices.DeleteFunc(holds, func(h deletions.Hold) bool { return !slices.Contains(all, h.Key()) })
	if err := PublishHolds(ctx, o.Bus, o.SigningKey, holds...); err != nil {
		return fmt.Errorf("publish holds again: %w", err)
	}
	var known []deletions.Entry
	var over []ingest.Outgoing
	commands := false
	for _, key := range all {
		id, command := wire.RequestOf(key)
		e, err := o.Ledger.Get(cmp.Or(id, key))
		switch {
		case err != nil && !errors.Is(err, deletions.ErrUnknownRequest):
			return err
		case command:
			ended, err := c.states.cancelled.commandEnded(id, e)
			if err != nil {
				return fmt.Errorf("command of request %s: %w", id, err)
			}
			if !ended {
				commands = true
				continue
			}
			tombstone := wire.CommandTombstone(id)
			if key != string(tombstone.Key) { // a part of a command
				over = append(over, ingest.Outgoing{Key: []byte(key)})
			}
			over = append(over, tombstone)
		case err == nil:
			known = append(known, e)
		}
	}
	if err := c.states.out.announce(ctx, known...); err != nil {
		return err
	}
	if err := wire.PublishRecords(ctx, o.Bus, over); err != nil || !commands {
		return err
	}
	clear(c.states.commanded)
	return c.repeatOpen(ctx)
}
