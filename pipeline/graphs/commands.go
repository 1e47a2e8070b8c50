package graphs

import (
	"context"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/graphs/erase"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// commands carries out the commands of erasures in a standby.
type commands struct {
	*replayer
	of role.Erasures[followed]
}

type followedErasure = role.Erasure[followed]

// followed is a standby's state of an erasure.
type followed struct {
	// behind is the end of the journal when the command was received. Entries up to there must be applied first.
	behind int64
	// scrub is the rewriting of staging for an attempt.
	scrub    *erase.Scrub
	scrubbed int
}

func newCommands(r *replayer) commands {
	return commands{r, role.Erasures[followed]{
		Role: roleName, Instance: r.o.Instance, Run: r.o.Run, Secret: r.o.Secret, Rewriting: true,
	}}
}

// take receives commands. Suppressing and lifting are entries of the journal.
func (s *commands) take(ctx context.Context, notices []wire.Notice) error {
	return s.of.Take(notices, func(e *followedErasure) error {
		ends, err := bus.EndsOf(ctx, s.o.Bus, bus.Journal)
		e.Own.behind = ends[bus.TopicPartition{Topic: bus.Journal, Partition: journal.ForGraphs}]
		return err
	})
}

// carryOutAll carries out all steps that are due.
func (s *commands) carryOutAll(ctx context.Context) error {
	for {
		out, err := s.of.Acknowledge(ctx, s.carryOut)
		if err != nil || out.Idle {
			return err
		}
		if err := s.turns.Publish(out); err != nil {
			return err
		}
	}
}

// carryOut carries out the next step of a command and returns its acknowledgement.
func (s *commands) carryOut(ctx context.Context, e *followedErasure) (a deletions.Ack, err error) {
	c, own := e.Command, &e.Own
	if s.replay.Through() < own.behind {
		return a, nil
	}
	if own.scrub == nil || own.scrubbed < c.Attempt {
		if s.eraser.Scrubbing.IsBusy() {
			return a, nil // it may have begun before the deletion
		}
		if own.scrub, err = s.eraser.Scrubbing.Begin(ctx); err != nil {
			return a, err
		}
		own.scrubbed = c.Attempt
	}
	switch {
	case !own.scrub.IsEnded():
		return a, nil
	case e.Owes(deletions.StepErased):
		return s.searched(ctx, e, deletions.StepErased)
	case c.Phase == wire.PhaseSearch && e.Owes(deletions.StepScanned):
		return s.searched(ctx, e, deletions.StepScanned)
	}
	return a, nil
}

// searched searches the folder and acknowledges the result.
func (s *commands) searched(ctx context.Context, e *followedErasure, step deletions.Step) (deletions.Ack, error) {
	c, a := e.Command, s.of.Ack(e, step)
	scanner, err := scan.NewRecordScanner(s.o.Secret, s.o.Limits.Normalise, c.Fingerprints)
	if err != nil {
		return a, err
	}
	hits, err := erase.SearchOriginals(s.store, scanner)
	if err != nil {
		return a, err
	}
	summary, err := c.Search(ctx, s.o.Secret, swapstore.Files(s.o.FS, s.o.Dir), s.o.Pacer)
	summary.Hits += len(hits)
	a.Scan = &summary
	return a, err
}
