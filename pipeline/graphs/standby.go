package graphs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lethe/deletions/ledgercopy"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
)

// As opens the role without a Standing for a process that has it alone, else as leader or standby. All openings of a
// process share the handover.
func As(ctx context.Context, o Options, as *role.Standing, handover *Handover) (*role.Follower, error) {
	if as == nil {
		return New(ctx, o)
	}
	o.standing, o.handover = as, handover
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
	s, err := openStandby(ctx, o, handover)
	if err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	around := role.Surroundings{
		Bus: o.Bus, Tick: tick, Clock: o.Clock.Now, Listener: o.Listener, Logger: o.Logger, Standing: as, Wake: o.wakes,
	}
	return role.Follow(roleName, s, around), nil
}

// takeOver prepares the folder of a new leader. Ledger and log are rebuilt from the topics, unless this process led
// last and may have stored more than it published. Old ones are deleted before the epoch begins: a process killed in
// between would take them for its own. The epoch begins before anything is read, so that later records of a fenced
// leader are recognised.
func takeOver(ctx context.Context, o Options) error {
	if led := o.handover.Leader; led != "" && led != o.Instance {
		if err := forgetLedger(o); err != nil {
			return fmt.Errorf("forget the ledger: %w", err)
		}
	}
	if err := o.standing.Begin(ctx, o.Bus, journal.ForGraphs, o.handover.done, leadersTopics()...); err != nil {
		return err
	}
	kept, err := ledgercopy.Read(ctx, o.Bus)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	return restoreReceipts(ctx, o, kept)
}

// standby is the role in a standby: it applies the journal, publishes nothing of it, and carries out commands of
// erasures as every role that holds copies does. It has no ledger and no log; a new leader rebuilds them from the
// topics.
type standby struct {
	*replayer
	handover *Handover
	commands commands
}

var _ role.Replayer = (*standby)(nil)

// openStandby opens the store of graphs.
func openStandby(ctx context.Context, o Options, handover *Handover) (*standby, error) {
	store, err := openSnapshots(ctx, o)
	if err != nil {
		return nil, err
	}
	// Erased targets are suppressed first: their records may still be in the topics.
	if err := suppressCopied(ctx, o, store); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	at, err := publish.Position(store)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	*handover = Handover{}
	r := &replayer{newLogic(o, stores{graphs: store}, nil), o, role.NewReplay(roleName, journal.ForGraphs, at)}
	return &standby{replayer: r, handover: handover, commands: newCommands(r)}, nil
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
	s.running.Wait()
	s.handover.done = s.replay.Done()
	return s.store.Close()
}

// Step implements role.Logic.
func (s *standby) Step(ctx context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	out, err := s.turns.Step(func() error { return s.follow(ctx, in) })
	if out.Idle {
		s.status = s.currentStatus()
		s.status.LeftToLeader = []bus.Topic{bus.Erasures}
		_, out.Waits = s.replay.Next()
	}
	return out, err
}

// Wants implements role.Replayer.
func (s *standby) Wants() map[bus.Topic]bool { return s.replay.Wants() }

// follow processes an input.
func (s *standby) follow(ctx context.Context, in role.Input) error {
	if err := s.eraser.Scrubbing.GoOn(); err != nil {
		return err
	}
	for _, e := range in.Entries {
		if _, begins := e.Decision.(journal.EpochBegan); begins && e.Role == roleName {
			s.handover.Leader = e.Instance
		}
	}
	if err := s.replay.Take(in); err != nil {
		return err
	}
	if err := s.all(ctx); err != nil {
		return err
	}
	if err := s.commands.take(ctx, in.Notices); err != nil {
		return err
	}
	s.o.Questions.respond(func(context.Context, Question) (Answer, error) { return Answer{}, ErrStandsBy })
	return s.commands.carryOutAll(ctx)
}
