package graphs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
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
	erasures map[string]*followed
	replay   *role.Replay
	// wakes has the role step.
	wakes chan struct{}
}

// followed is an erasure of who leads.
type followed struct {
	command *wire.Command
	// behind is where the journal ended when the command was heard: what it is about is done once that is.
	behind int64
	// scrubbed, erased and scanned are the newest attempts of which that was done, or -1.
	scrubbed, erased, scanned int
	// scrub is staging that is written anew for the attempt.
	scrub *scrub
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
		logic: newLogic(o, stores{graphs: store}, nil), o: o, heard: heard, erasures: make(map[string]*followed),
		wakes: o.wakes(), replay: role.NewReplay(roleName, journal.ForGraphs, at),
	}
	s.eraser.scrubbing.beside, s.eraser.scrubbing.wake = beside, func() { signal(s.wakes) }
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
	return s.store.Close()
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
	if err := s.hear(ctx, in.Notices); err != nil {
		return err
	}
	s.decline()
	for _, id := range slices.Sorted(maps.Keys(s.erasures)) {
		if err := s.carryOut(ctx, s.erasures[id]); err != nil {
			return fmt.Errorf("request %s: %w", id, err)
		}
	}
	return nil
}

// hear follows the commands of erasures. What is suppressed and lifted the journal says.
func (s *standby) hear(ctx context.Context, notices []wire.Notice) error {
	for _, n := range notices {
		switch c := n.Command; {
		case n.Deleted != "":
			delete(s.erasures, n.Deleted)
		case c == nil:
		case c.Phase.Rewrites():
			if err := s.command(ctx, c); err != nil {
				return fmt.Errorf("request %s: %w", c.RequestID, err)
			}
		default:
			if err := c.Shares(s.o.Secret); err != nil {
				return fmt.Errorf("request %s: %w", c.RequestID, err)
			}
			delete(s.erasures, c.RequestID)
		}
	}
	return nil
}

// command follows a command to look for what was rewritten.
func (s *standby) command(ctx context.Context, c *wire.Command) error {
	if err := c.Shares(s.o.Secret); err != nil {
		return err
	}
	ends, err := bus.EndsOf(ctx, s.o.Bus, bus.Journal)
	if err != nil {
		return err
	}
	if s.erasures[c.RequestID] == nil {
		s.erasures[c.RequestID] = &followed{scrubbed: -1, erased: -1, scanned: -1}
	}
	e := s.erasures[c.RequestID]
	e.command, e.behind = c, ends[bus.TopicPartition{Topic: bus.Journal, Partition: journal.ForGraphs}]
	return nil
}

// carryOut does what a command asks for, and says so.
func (s *standby) carryOut(ctx context.Context, e *followed) error {
	c := e.command
	if s.replay.Through() < e.behind {
		return nil
	}
	if e.scrubbed < c.Attempt {
		if s.eraser.scrubbing.now != nil {
			return nil // it may have begun before this one has deleted anything
		}
		var err error
		if e.scrub, err = s.eraser.scrubbing.begin(ctx); err != nil {
			return err
		}
		e.scrubbed = c.Attempt
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
