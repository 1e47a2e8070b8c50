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

// commands are those of erasures, as far as any role that holds copies carries them out.
type commands struct {
	*replayer
	of role.Erasures[followed]
}

type followedErasure = role.Erasure[followed]

// followed is what a standby knows of an erasure of who leads.
type followed struct {
	// behind is where the journal ended when the command was heard: what it is about is done once that is.
	behind int64
	// scrub is staging that is written anew for an attempt.
	scrub    *erase.Scrub
	scrubbed int
}

func newCommands(r *replayer) commands {
	return commands{r, role.Erasures[followed]{
		Role: roleName, Instance: r.o.Instance, Run: r.o.Run, Secret: r.o.Secret, Rewriting: true,
	}}
}

// hear follows the commands of erasures. What is suppressed and lifted the journal says.
func (s *commands) hear(ctx context.Context, notices []wire.Notice) error {
	return s.of.Take(notices, func(e *followedErasure) error {
		ends, err := bus.EndsOf(ctx, s.o.Bus, bus.Journal)
		e.Own.behind = ends[bus.TopicPartition{Topic: bus.Journal, Partition: journal.ForGraphs}]
		return err
	})
}

// carryOutAll does what is asked for by now.
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

// carryOut does what a command asks for, and says so.
func (s *commands) carryOut(ctx context.Context, e *followedErasure) (a deletions.Ack, err error) {
	c, own := e.Command, &e.Own
	if s.replay.Through() < own.behind {
		return a, nil
	}
	if own.scrub == nil || own.scrubbed < c.Attempt {
		if s.eraser.Scrubbing.IsBusy() {
			return a, nil // it may have begun before this one has deleted anything
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

// searched searches the folder for what a command erases, and says what was found.
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
