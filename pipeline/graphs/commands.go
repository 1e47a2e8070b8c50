package graphs

import (
	"context"
	"fmt"
	"maps"
	"slices"

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
	of map[string]*followed
}

// followed is an erasure of who leads.
type followed struct {
	command *wire.Command
	// behind is where the journal ended when the command was heard: what it is about is done once that is.
	behind int64
	// scrubbed, erased and scanned are the newest attempts of which that was done, or -1.
	scrubbed, erased, scanned int
	// scrub is staging that is written anew for the attempt.
	scrub *erase.Scrub
}

// hear follows the commands of erasures. What is suppressed and lifted the journal says.
func (s *commands) hear(ctx context.Context, notices []wire.Notice) error {
	for _, n := range notices {
		switch c := n.Command; {
		case n.Deleted != "":
			delete(s.of, n.Deleted)
		case c == nil:
		case c.Phase.Rewrites():
			if err := s.command(ctx, c); err != nil {
				return fmt.Errorf("request %s: %w", c.RequestID, err)
			}
		default:
			if err := c.Shares(s.o.Secret); err != nil {
				return fmt.Errorf("request %s: %w", c.RequestID, err)
			}
			delete(s.of, c.RequestID)
		}
	}
	return nil
}

// command follows a command to look for what was rewritten.
func (s *commands) command(ctx context.Context, c *wire.Command) error {
	if err := c.Shares(s.o.Secret); err != nil {
		return err
	}
	ends, err := bus.EndsOf(ctx, s.o.Bus, bus.Journal)
	if err != nil {
		return err
	}
	if s.of[c.RequestID] == nil {
		s.of[c.RequestID] = &followed{scrubbed: -1, erased: -1, scanned: -1}
	}
	e := s.of[c.RequestID]
	e.command, e.behind = c, ends[bus.TopicPartition{Topic: bus.Journal, Partition: journal.ForGraphs}]
	return nil
}

// carryOutAll does what is asked for by now.
func (s *commands) carryOutAll(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(s.of)) {
		if err := s.carryOut(ctx, s.of[id]); err != nil {
			return fmt.Errorf("request %s: %w", id, err)
		}
	}
	return nil
}

// carryOut does what a command asks for, and says so.
func (s *commands) carryOut(ctx context.Context, e *followed) error {
	c := e.command
	if s.replay.Through() < e.behind {
		return nil
	}
	if e.scrubbed < c.Attempt {
		if s.eraser.Scrubbing.IsBusy() {
			return nil // it may have begun before this one has deleted anything
		}
		var err error
		if e.scrub, err = s.eraser.Scrubbing.Begin(ctx); err != nil {
			return err
		}
		e.scrubbed = c.Attempt
	}
	if e.scrub != nil && !e.scrub.IsEnded() {
		return nil
	}
	if e.erased < c.Attempt {
		if err := s.searched(ctx, c, deletions.StepErased, &e.erased); err != nil {
			return err
		}
	}
	if c.Phase == wire.PhaseSearch && e.scanned < c.Attempt {
		if err := s.searched(ctx, c, deletions.StepScanned, &e.scanned); err != nil {
			return err
		}
	}
	return nil
}

// searched searches the folder for what a command erases, says what was found and notes the attempt.
func (s *commands) searched(ctx context.Context, c *wire.Command, step deletions.Step, note *int) error {
	scanner, err := scan.NewRecordScanner(s.o.Secret, s.o.Limits.Normalise, c.Fingerprints)
	if err != nil {
		return err
	}
	hits, err := erase.SearchOriginals(s.store, scanner)
	if err != nil {
		return err
	}
	summary, err := c.Search(ctx, s.o.Secret, swapstore.Files(s.o.FS, s.o.Dir), s.o.Pacer)
	if err != nil {
		return err
	}
	summary.Hits += len(hits)
	ack := deletions.NewAck(c.RequestID, roleName, s.o.Instance, step)
	ack.Attempt, ack.Run, ack.Scan = c.Attempt, s.o.Run, &summary
	out, err := role.Acknowledge(ack, note)
	if err != nil {
		return err
	}
	return s.turns.Publish(out)
}
