package graphs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/withdrawal"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// ErrStandsBy answers questions to a process that stands by. Ask the one that leads.
var ErrStandsBy = fmt.Errorf("%w: this process stands by, ask the one that leads", ErrBusy)

// Heard is what a process knows of those that led before. Its zero value is that of one that has read nothing.
type Heard struct {
	// Leader is the data directory that began the newest epoch, or empty.
	Leader string
	// done is the last entry of the journal that this process's store has done.
	done journal.Position
}

// As opens the role as a process is to play it: alone without a Standing, else as one that leads or
// stands by. What it hears while it stands by is kept in heard, which all openings of a process
// share.
func As(ctx context.Context, o Options, as *role.Standing, heard *Heard) (*role.Follower, error) {
	if as == nil {
		// Nobody else publishes, so nothing was heard that there would be to go behind.
		return New(ctx, o)
	}
	o.standing, o.heard = as, heard
	if !as.StandsBy() {
		as.Open = []bus.Topic{bus.Control}
		o = o.agreed()
		if err := takeOver(ctx, o); err != nil {
			return nil, fmt.Errorf("%s role: take over: %w", roleName, err)
		}
		return New(ctx, o)
	}
	as.Open = []bus.Topic{bus.Control}
	o = o.agreed()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	s, err := openStandby(ctx, o, heard)
	if err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	around := role.Surroundings{
		Bus: o.Bus, Tick: tick, Clock: o.Clock.Now, Listener: o.Listener, Logger: o.Logger, Standing: as, Wake: s.wakes,
	}
	return role.Follow(roleName, s, around), nil
}

// takeOver prepares the folder of a process that leads from now on. Ledger and log are those of the topics, unless this
// process led last and may know more than it said: what is of before is removed before an epoch begins, or a process
// that is killed in between would take it for that. The epoch begins before anything is read, so that what another one
// may still write can be told.
func takeOver(ctx context.Context, o Options) error {
	if led := o.heard.Leader; led != "" && led != o.Instance {
		if err := forgetLedger(o); err != nil {
			return fmt.Errorf("forget the ledger: %w", err)
		}
	}
	if err := o.standing.Begin(ctx, o.Bus, journal.ForGraphs, o.heard.done, leadersTopics()...); err != nil {
		return err
	}
	kept, err := ledgercopy.Read(ctx, o.Bus, o.Secret)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	return restoreReceipts(ctx, o, kept)
}

// standby is the role in a process that stands by: it does what the journal says, publishes nothing of it, and carries
// out what commands of erasures ask of any role that holds copies. It has no ledger and no log: who takes over makes
// them anew of the topics.
type standby struct {
	*logic
	o        Options
	heard    *Heard
	erasures role.Erasures[followed]
	replay   *role.Replay
	// wakes has the role step.
	wakes chan struct{}
}

type erasure = role.Erasure[followed]

// followed is what a standby knows of an erasure.
type followed struct {
	// behind is where the journal ended when the command was heard: what it is about is done once that is.
	behind int64
	// scrub is staging that is written anew for an attempt.
	scrub    *scrub
	scrubbed int
}

var _ role.Replayer = (*standby)(nil)

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
	at, err := positionOf(store)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	beside := o.Beside
	o.Beside = nil
	*heard = Heard{}
	s := &standby{
		logic: newLogic(o, stores{graphs: store}, nil), o: o, heard: heard,
		wakes: o.wakes(), replay: role.NewReplay(roleName, journal.ForGraphs, at),
	}
	s.erasures = role.Erasures[followed]{
		Role: roleName, Instance: o.Instance, Run: o.Run, Secret: o.Secret, Rewriting: true,
	}
	s.eraser.scrubbing.beside, s.eraser.scrubbing.wake = beside, func() { signal(s.wakes) }
	s.intake.replayed, s.intake.erased = &journal.Consumed{}, nothingErased{}
	return s, nil
}

// Topics implements role.Logic.
func (s *standby) Topics() []bus.Topic { return []bus.Topic{bus.Transactions, bus.Labels, bus.Journal} }

// Resume implements role.Logic.
func (s *standby) Resume(source bus.TopicPartition, count int) (int64, error) {
	if source.Topic == bus.Journal {
		if source.Partition == journal.ForAll {
			return bus.FromStart, nil
		}
		return s.replay.Done().Next, nil
	}
	at, err := s.logic.Resume(source, count)
	s.replay.From(source, at)
	return at, err
}

// Close implements role.Logic.
func (s *standby) Close() error {
	s.turns.Close()
	s.eraser.scrubbing.working.Wait()
	s.heard.done = s.replay.Done()
	return s.store.(*snapshot.Store).Close()
}

// Step implements role.Logic.
func (s *standby) Step(ctx context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	out, err := s.turns.Step(func() error { return s.follow(ctx, in) })
	if out.Idle {
		s.status = s.know()
		s.status.LeftToLeader = []bus.Topic{bus.Erasures}
		_, out.Waits = s.replay.Next()
	}
	return out, err
}

// Wants implements role.Replayer.
func (s *standby) Wants() map[bus.Topic]bool { return s.replay.Wants() }

// follow takes what arrived and does what is due of it.
func (s *standby) follow(ctx context.Context, in role.Input) error {
	if err := s.eraser.scrubbing.goOn(); err != nil {
		return err
	}
	for _, e := range in.Entries {
		if _, begins := e.Decision.(journal.EpochBegan); begins && e.Role == roleName {
			s.heard.Leader = e.Instance
		}
	}
	s.replay.Take(in)
	if err := s.replayAll(ctx); err != nil {
		return err
	}
	// What is suppressed and lifted the journal says.
	if err := s.erasures.Take(in.Notices, func(e *erasure) error { return s.command(ctx, e) }); err != nil {
		return err
	}
	s.decline()
	for {
		out, err := s.erasures.Acknowledge(ctx, s.carryOut)
		if err != nil || out.Idle {
			return err
		}
		if err := s.turns.Publish(out); err != nil {
			return err
		}
	}
}

// command follows a command to look for what was rewritten.
func (s *standby) command(ctx context.Context, e *erasure) error {
	ends, err := bus.EndsOf(ctx, s.o.Bus, bus.Journal)
	e.Own.behind = ends[bus.TopicPartition{Topic: bus.Journal, Partition: journal.ForGraphs}]
	return err
}

// carryOut does what a command asks for, and says so.
func (s *standby) carryOut(ctx context.Context, e *erasure) (a deletions.Ack, err error) {
	c, own := e.Command, &e.Own
	if s.replay.Through() < own.behind {
		return a, nil
	}
	if own.scrub == nil || own.scrubbed < c.Attempt {
		if s.eraser.scrubbing.now != nil {
			return a, nil // it may have begun before this one has deleted anything
		}
		if own.scrub, err = s.eraser.scrubbing.begin(ctx); err != nil {
			return a, err
		}
		own.scrubbed = c.Attempt
	}
	switch {
	case !own.scrub.ended:
		return a, nil
	case e.Owes(deletions.StepErased):
		return s.searched(ctx, e, deletions.StepErased)
	case c.Phase == wire.PhaseSearch && e.Owes(deletions.StepScanned):
		return s.searched(ctx, e, deletions.StepScanned)
	}
	return a, nil
}

// nothingErased stands for what was erased where another process says what becomes of records.
type nothingErased struct{}

// Names implements Erased.
func (nothingErased) Names(ingest.Record) (bool, error) { return false, nil }

// Strip implements Erased.
func (nothingErased) Strip(rec ingest.Record, _ bool) (withdrawal.Stripped, error) {
	return withdrawal.Stripped{Record: rec}, nil
}

// Withdraw implements Erased.
func (nothingErased) Withdraw(context.Context, bus.Batch, []int) error { return nil }

// Republish implements Erased.
func (nothingErased) Republish(context.Context, bus.Batch, map[int]withdrawal.Redaction) error {
	return nil
}
