package coordinator

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

// suppress commands score to suppress the targets of requests.
func (o *outbox) suppress(ctx context.Context, list ...deletions.Entry) error {
	var commands []*wire.Command
	for _, e := range list {
		commands = append(commands, &wire.Command{
			RequestID: e.RequestID, Attempt: e.Attempts, Phase: wire.PhaseSuppress,
			SecretCheck: wire.SecretCheck(o.Secret), Suppressed: e.Suppressed(), Subjects: e.Subjects,
			Redacted: e.Redactions(),
		})
	}
	return o.send(ctx, commands...)
}

// lift commands score to accept records of these hashes again.
func (o *outbox) lift(ctx context.Context, e deletions.Entry, hashes []lethe.Digest, still []lethe.SubjectUntil) error {
	return o.send(ctx, &wire.Command{
		RequestID: e.RequestID, Attempt: e.Attempts, Phase: wire.PhaseLift,
		SecretCheck: wire.SecretCheck(o.Secret), Suppressed: hashes, Subjects: still,
	})
}

// command commands the other roles to do a phase of a batch. Revisions only grow, so the present ones will do.
func (o *outbox) command(ctx context.Context, leader string, phase wire.Phase) error {
	b, err := o.whole(leader)
	if err != nil {
		return err
	}
	return o.send(ctx, o.commandOf(b, phase))
}

func (o *outbox) commandOf(b batch.Batch, phase wire.Phase) *wire.Command {
	return &wire.Command{
		RequestID: b.Leader, Attempt: b.Attempts(), Phase: phase,
		SecretCheck: wire.SecretCheck(o.Secret), Suppressed: b.Targets(), Subjects: b.Subjects(),
		Redacted: b.Redactions(), Fingerprints: b.Fingerprints(), Steps: o.Graphs.Steps(replaced(b)),
	}
}

func (o *outbox) send(ctx context.Context, commands ...*wire.Command) error {
	var records []ingest.Outgoing
	for _, command := range commands {
		own, err := command.Records()
		if err != nil {
			return err
		}
		records = append(records, own...)
	}
	return wire.PublishRecords(ctx, o.Bus, records)
}

// whole returns the open requests of a batch in any state: an acknowledgement must hold for all.
func (o *outbox) whole(leader string) (batch.Batch, error) {
	open, err := o.Ledger.Open()
	return batch.Batch{Leader: leader, Members: open}.Where(func(e deletions.Entry) bool {
		return batch.Begun(e) && e.Leader() == leader
	}), err
}

// end deletes the commands of ended requests, and the batch's command once all have ended, with their acknowledgements.
func (c *core) end(ctx context.Context, b batch.Batch) error {
	var records []ingest.Outgoing
	var ended []string
	for _, id := range b.IDs() {
		if id != b.Leader {
			records, ended = append(records, wire.CommandTombstone(id)), append(ended, id)
		}
	}
	rest, err := c.out.whole(b.Leader)
	if err != nil {
		return err
	}
	if len(rest.Members) == 0 {
		done, err := c.o.Ledger.Where(func(e *deletions.Entry) bool { return e.State.Final() && e.Leader() == b.Leader })
		if err != nil {
			return err
		}
		command := c.out.commandOf(batch.Batch{Leader: b.Leader, Members: done}, wire.PhaseSearch)
		last, err := command.Tombstones()
		if err != nil {
			return err
		}
		records, ended = append(records, last...), append(ended, b.Leader)
	}
	for _, id := range ended {
		records = append(records, c.acks.Drop(id)...)
	}
	return wire.PublishRecords(ctx, c.o.Bus, records)
}

// repeat publishes the command and states of a batch again. A batch that needs its targets is commanded when they
// have been read.
func (o *outbox) repeat(ctx context.Context, b batch.Batch) (err error) {
	switch b.State() {
	case deletions.Retraining, deletions.Swapped:
		err = o.command(ctx, b.Leader, wire.PhasePurge)
	case deletions.Erased:
		err = o.command(ctx, b.Leader, wire.PhaseSearch)
	default:
	}
	if err != nil {
		return err
	}
	return o.announce(ctx, b.Members...)
}

// repeatAlone is repeat for a request that has not begun.
func (o *outbox) repeatAlone(ctx context.Context, e deletions.Entry) error {
	if e.State == deletions.Suppressed {
		if err := o.suppress(ctx, e); err != nil {
			return err
		}
	}
	return o.announce(ctx, e)
}

// renew repeats the commands of batches that rewrote some timesteps, except one leader's: their revisions will not
// come, as the timesteps were rewritten again or are gone.
func (o *outbox) renew(ctx context.Context, timesteps map[lethe.Timestep]bool, but string) error {
	open, err := o.Ledger.List(deletions.Retraining, deletions.Swapped, deletions.Erased)
	if err != nil {
		return err
	}
	for _, b := range batch.Group(open) {
		shares := slices.ContainsFunc(replaced(b), func(r Replaced) bool { return timesteps[r.Timestep] })
		if !shares || b.Leader == but {
			continue
		}
		if err := o.repeat(ctx, b); err != nil {
			return fmt.Errorf("command of request %s: %w", b.Leader, err)
		}
	}
	return nil
}
