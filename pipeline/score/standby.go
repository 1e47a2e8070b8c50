package score

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/score/published"
	"lethe/pipeline/wire"
)

// standby is the role in a standby: it applies the journal, publishes nothing of it, and acknowledges commands of
// erasures. It computes what follows from an entry once the next entry confirms that it was published: so a new leader
// publishes what follows from the last entry.
type standby struct {
	*logic
	replay *role.Replay
	place  journal.Place
	// commands are the commands that no entry has named yet.
	commands []wire.Notice
}

var _ role.Replayer = (*standby)(nil)

func newStandby(l *logic) (*standby, error) {
	at, err := placeOf(l.state.store)
	replay := role.NewReplay(roleName, journal.ForAll, journal.Position{Place: at})
	return &standby{logic: l, replay: replay, place: at}, err
}

// Resume implements role.Logic.
func (s *standby) Resume(source bus.TopicPartition, count int) (int64, error) {
	at, err := s.logic.Resume(source, count)
	s.replay.From(source, at)
	return at, err
}

// Wants implements role.Replayer.
func (s *standby) Wants() map[bus.Topic]bool { return s.replay.Wants() }

// Step implements role.Logic.
func (s *standby) Step(ctx context.Context, _ func() time.Time, in role.Input) (out role.Output, err error) {
	if err := errors.Join(s.receive(in.Notices), s.replay.Take(in)); err != nil {
		return out, err
	}
	for {
		e, is := s.replay.Next()
		if !is {
			break
		}
		done, err := s.apply(ctx, e)
		if err != nil {
			return out, fmt.Errorf("entry %d of epoch %d: %w", e.Number, e.Epoch, err)
		}
		if !done {
			break
		}
		s.replay.Applied()
	}
	if err := s.explaining.release(); err != nil {
		return out, err
	}
	if out, err = s.erasing.acknowledged(ctx); out.Idle {
		_, out.Waits = s.replay.Next()
	}
	return out, err
}

// receive processes commands that an entry has named before, as control.v1 is read from its start, and retains the
// others.
func (s *standby) receive(notices []wire.Notice) error {
	named, err := offsetOf(s.state.store, bus.TopicPartition{Topic: bus.Control})
	for _, n := range notices {
		switch {
		case err != nil || !isCommand(n):
		case n.Offset < named:
			err = s.erasing.take([]wire.Notice{n})
		default:
			s.commands = append(s.commands, n)
		}
	}
	return err
}

// apply applies an entry; done is false if its records are not read yet.
func (s *standby) apply(ctx context.Context, e journal.Entry) (done bool, err error) {
	consumed, consumes := e.Decision.(journal.Consumed)
	in, there := role.Input{}, true
	if consumes {
		in, there = s.replay.Messages(consumed)
	}
	if !there {
		return false, nil
	}
	if s.place != e.Place() { // else a crash came in between
		if _, begins := e.Decision.(journal.EpochBegan); !begins { // which confirms nothing: the leader may end behind it
			err = s.catchUp(ctx)
		}
		if err == nil {
			err = putPlace(s.state.store, e.Place())
		}
		s.place = e.Place()
	}
	if err != nil {
		return false, err
	}
	switch d := e.Decision.(type) {
	case journal.Consumed:
		return true, s.consume(ctx, in)
	case journal.Explained:
		return true, s.explaining.explained(d)
	case journal.Served:
		s.lastServed, s.state.scored = d, d.Scored
		return true, s.passOverAll(ctx)
	case journal.EpochBegan:
		return true, nil
	default:
		return false, fmt.Errorf("score has no entries %T", d)
	}
}

// consume processes the records of an entry.
func (s *standby) consume(ctx context.Context, in role.Input) error {
	if in.Batch.Source.Topic == bus.Control {
		n := slices.IndexFunc(s.commands, func(n wire.Notice) bool { return n.Offset >= in.Batch.Next })
		if n < 0 {
			n = len(s.commands)
		}
		in.Notices, s.commands = s.commands[:n], s.commands[n:]
	}
	return s.takeNamed(ctx, in)
}

// catchUp computes everything that follows from the entries so far.
func (s *standby) catchUp(ctx context.Context) error {
	for {
		if err := s.explaining.release(); err != nil {
			return err
		}
		out, progressed, err := s.advance(ctx, s.o.Clock)
		if err == nil && out.Note != nil {
			err = out.Note()
		}
		if err != nil || !progressed {
			return err
		}
	}
}

// passOverAll skips waiting timesteps that the leader has scored: train has deleted their models since.
func (s *standby) passOverAll(ctx context.Context) error {
	for _, t := range s.state.links.known() {
		wanted, known := s.state.links.stepsBefore(t, 1+s.o.Scoring.LabelLagTimesteps)
		if s.state.links[t].done || !s.lastServed.Scored.Holds(t) || known && wanted == lethe.NoTimestep {
			continue
		}
		graph, err := s.state.snapshot(t)
		if err == nil {
			s.o.Logger.Warn(passedOver, "timestep", t)
			err = s.state.store.Apply(func(w swapstore.Writer) error {
				unreadAlerts().write(w, t)
				return nil
			})
		}
		if err == nil {
			err = s.finish(t, published.Unmeasured(graph), nil)
		}
		if err != nil {
			return err
		}
	}
	return s.catchUp(ctx)
}

// placeOf returns the place of the last entry that a store has applied, or is applying.
func placeOf(store role.Store) (journal.Place, error) {
	value, _, err := store.Get([]byte(placeKey))
	p, _ := journal.CutPlace(value)
	return p, err
}

func putPlace(store role.Store, p journal.Place) error {
	return store.Apply(func(w swapstore.Writer) error {
		w.Set([]byte(placeKey), p.AppendTo(nil))
		return nil
	})
}
