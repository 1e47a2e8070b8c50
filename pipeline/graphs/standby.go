package graphs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// ErrStandsBy answers questions to a process that stands by. Ask the one that leads.
var ErrStandsBy = fmt.Errorf("%w: this process stands by, ask the one that leads", ErrBusy)

// standby is the role in a process that stands by: it makes the same graphs of the same records as
// who leads, publishes nothing of them, and carries out what the erasures of the other one command
// as any role that holds copies does. It has no ledger and no log: who takes over makes them anew of
// the topics. A store of graphs could only be made anew by reading everything.
type standby struct {
	*logic
	o        Options
	heard    *Heard
	erasures map[string]*followed
	// later are commands that suppress once all was taken here that the leader had taken before it did.
	later []*wire.Command
	// features is the number that the journal has decided.
	features journal.FeaturesDecided
	// wakes has the role step.
	wakes chan struct{}
}

// followed is an erasure of who leads.
type followed struct {
	command *wire.Command
	// rewritten, erased and scanned are the newest attempts of which that was done, or -1.
	rewritten, erased, scanned int
	// scrub is staging that is written anew for the attempt.
	scrub *scrub
}

var _ role.Logic = (*standby)(nil)

// openStandby opens the store of graphs, to follow.
func openStandby(ctx context.Context, o Options, heard *Heard) (*standby, error) {
	store, err := openSnapshots(ctx, o)
	if err != nil {
		return nil, err
	}
	// What is erased is suppressed first: its records may still be in the topics.
	if err := suppressCopied(ctx, o, store); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	beside := o.Beside
	o.Beside = nil
	*heard = Heard{
		graphs: make(map[lethe.Timestep]newest), manifests: make(map[lethe.Timestep]newest),
		letters: make(map[string]letterSaid), read: make(map[bus.TopicPartition]int64),
	}
	s := &standby{
		logic: newLogic(o, stores{graphs: store}, nil), o: o, heard: heard, erasures: make(map[string]*followed),
		wakes: o.wakes(),
	}
	s.eraser.scrubbing.beside, s.eraser.scrubbing.wake = beside, func() { signal(s.wakes) }
	s.intake.silent, s.intake.erased = true, nothingErased{}
	return s, nil
}

// Topics implements role.Logic.
func (s *standby) Topics() []bus.Topic {
	return []bus.Topic{bus.Transactions, bus.Labels, bus.Snapshots, bus.DeadLetters}
}

// Resume implements role.Logic.
func (s *standby) Resume(source bus.TopicPartition, count int) (int64, error) {
	if source.Topic == bus.Snapshots || source.Topic == bus.DeadLetters {
		s.heard.read[source] = 0
		return bus.FromStart, nil
	}
	return s.logic.Resume(source, count)
}

// Close implements role.Logic.
func (s *standby) Close() error {
	s.turns.Close()
	s.eraser.scrubbing.working.Wait()
	return s.store.(*snapshot.Store).Close()
}

// Step implements role.Logic.
func (s *standby) Step(ctx context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	out, err := s.turns.Step(func() error { return s.follow(ctx, in) })
	if out.Idle {
		s.status = s.know()
		s.status.LeftToLeader = []bus.Topic{bus.Erasures}
	}
	return out, err
}

// follow takes what arrived and does what is due of it.
func (s *standby) follow(ctx context.Context, in role.Input) error {
	if err := s.eraser.scrubbing.goOn(); err != nil {
		return err
	}
	s.apply(in.Entries)
	switch topic := in.Batch.Source.Topic; topic {
	case bus.Control:
		err := errors.Join(s.hear(in.Notices), s.hearLedger(ctx, in.Batch.Records))
		if err != nil {
			return err
		}
	case bus.Snapshots:
		s.heard.note(in.Messages)
		s.heard.read[in.Batch.Source] = in.Batch.Next
	case bus.DeadLetters:
		s.heard.noteLetters(in.Batch.Records)
	case bus.Transactions, bus.Labels:
		if gap := in.Batch.Gap; gap != nil {
			if err := s.intake.missed(ctx, gap); err != nil {
				return err
			}
		}
		if err := s.suppressBefore(in.Batch); err != nil {
			return err
		}
		if err := s.intake.take(ctx, in.Batch, in.Prepared); err != nil {
			return err
		}
		s.lifecycle.noteBegun()
		if err := s.suppressReached(); err != nil {
			return err
		}
	default:
	}
	if s.o.standing.OnlyHears() { // what is due would not be noted, which ends the work
		s.decline()
		return nil
	}
	err := s.takeFeatures()
	if err == nil {
		err = s.lifecycle.advance(ctx)
	}
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(s.erasures)) {
		if err := s.carryOut(ctx, s.erasures[id]); err != nil {
			return fmt.Errorf("request %s: %w", id, err)
		}
	}
	s.decline()
	return nil
}

// hear follows the commands of erasures: what they name is taken no more from here on.
func (s *standby) hear(notices []wire.Notice) error {
	for _, n := range notices {
		switch c := n.Command; {
		case n.Deleted != "":
			delete(s.erasures, n.Deleted)
			if err := s.suppressLater(func(c *wire.Command) bool { return c.RequestID == n.Deleted }); err != nil {
				return err
			}
		case c != nil:
			if err := s.command(c); err != nil {
				return fmt.Errorf("request %s: %w", c.RequestID, err)
			}
		}
	}
	return nil
}

// carryOut does what a command asks for, and says so.
func (s *standby) carryOut(ctx context.Context, e *followed) error {
	c := e.command
	if !c.Phase.Rewrites() {
		return nil
	}
	if e.rewritten < c.Attempt {
		if s.eraser.scrubbing.now != nil {
			return nil // it may have begun before this one has deleted anything
		}
		var err error
		if e.scrub, err = s.rewrite(ctx, c); err != nil {
			return err
		}
		e.rewritten = c.Attempt
	}
	if e.scrub != nil && !e.scrub.ended {
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

// rewrite takes what a command erases out of the graphs here, and begins to write their files anew. What it names is in
// erasures.v1 until all have answered that it is out of their graphs. A later try finds nothing there, and writes
// the files anew all the same: another transaction may have come with the same features, and been corrected since.
func (s *standby) rewrite(ctx context.Context, c *wire.Command) (*scrub, error) {
	targets, scope, err := s.targets(ctx, c)
	if err == nil && len(targets) > 0 {
		err = s.erase(ctx, c, targets, scope)
	}
	if err != nil {
		return nil, err
	}
	return s.eraser.scrubbing.begin(ctx)
}

// erase takes targets of a command out of the graphs here.
func (s *standby) erase(ctx context.Context, c *wire.Command, targets []lethe.Target, scope lethe.Scope) error {
	if err := s.eraser.Adopt(ctx, targets, c.Suppressed); err != nil {
		return err
	}
	if err := s.eraser.Suppress(targets); err != nil {
		return err
	}
	infos := s.eraser.infos()
	var replaced []coordinator.Replaced
	for _, step := range c.Steps {
		if info := infos[step.Timestep]; !step.Gone && info.Revision > 0 && info.State > lethe.Open {
			replaced = append(replaced, coordinator.Replaced{
				Timestep: step.Timestep, Shards: step.Shards, Afresh: scope == lethe.ScopePartition,
			})
		}
	}
	return s.eraser.Rewrite(ctx, targets, replaced)
}

// targets are what the requests of a command name, as erasures.v1 and the copy of the ledger tell,
// and their scope.
func (s *standby) targets(ctx context.Context, c *wire.Command) (targets []lethe.Target, scope lethe.Scope, err error) {
	kept, err := ledgercopy.Read(ctx, s.o.Bus, s.o.Secret)
	if err != nil {
		return nil, "", err
	}
	err = s.o.Bus.ReadAll(ctx, bus.Erasures, func(rec ingest.Record) error {
		event, err := ingest.DecodeErasure(rec, s.o.Limits)
		request, is := event.(ingest.Erasure)
		if err != nil || !is {
			return nil //nolint:nilerr // whoever leads says what is wrong with it
		}
		e, known := kept.Entries[request.RequestID]
		if !known || e.Leader() != c.RequestID || !e.Suppresses() {
			return nil
		}
		scope = e.Scope
		for _, t := range e.Complete(s.o.Secret, request.Targets) {
			if slices.Contains(c.Suppressed, s.o.Secret.Suppressed(t)) { // else it is another request of this name
				targets = append(targets, t)
			}
		}
		return nil
	})
	return lethe.Distinct(targets), scope, err
}
