package train

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/train/outofgroup"
	"lethe/pipeline/wire"
)

// aid is this process's part in asking what the meta-model is learnt from, where several train:
// it asks for the process that learns it, or is that one and withdraws what the others have said. A nil *aid
// does nothing.
type aid struct {
	l *logic
	b *outofgroup.Board
	// at is the timestep whose meta-model is helped with, and work what is asked for it, nil if it is
	// not worth the while.
	at   lethe.Timestep
	work *outofgroup.Work
}

func newAid(l *logic) *aid {
	a := &aid{l: l, b: outofgroup.NewBoard(l.share.wake), at: lethe.NoTimestep}
	for _, c := range l.columns {
		c.learners = append(c.learners, a)
	}
	return a
}

func (a *aid) board() *outofgroup.Board {
	if a == nil {
		return nil
	}
	return a.b
}

// unlearn implements learner: what is asked changes with the slices.
func (a *aid) unlearn(lethe.Timestep) error {
	a.forget()
	return nil
}

// withdraw implements learner. What is gone is unlearnt as well.
func (*aid) withdraw(lethe.Timestep, lethe.Timestep) error { return nil }

func (a *aid) forget() { a.at, a.work = lethe.NoTimestep, nil }

// beside follows what others say, beside the role's loop.
func (a *aid) beside(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return a.l.share.run(running) })
	group.Go(func() error { return a.b.Run(running, roleName, a.l.o.Surroundings) })
	return wire.UnlessStopped(ctx, group.Wait())
}

// step does the next thing that is due when nothing else is.
func (a *aid) step(ctx context.Context) (role.Output, error) {
	if a == nil {
		return role.Output{Idle: true}, nil
	}
	over := a.l.over
	t := over.next()
	if t == lethe.NoTimestep {
		a.forget()
		a.b.Forget(over.newest() + 1)
	}
	if a.l.owns(over.series) {
		return a.tidy(), nil
	}
	if t == lethe.NoTimestep {
		return role.Output{Idle: true}, nil
	}
	if a.at != t {
		if err := a.begin(t); err != nil {
			return role.Output{}, err
		}
	}
	if a.work == nil {
		return role.Output{Idle: true}, nil
	}
	messages, err := a.work.Ask(ctx, a.l.runner, a.b)
	return role.Output{Messages: messages, Idle: len(messages) == 0}, err
}

// tidy withdraws what stands on the topic, unless it may be of use for a timestep that is to come.
func (a *aid) tidy() role.Output {
	if a.l.columns.newest() > a.l.over.newest() {
		return role.Output{Idle: true}
	}
	records, note := a.b.Left()
	return role.Output{Topic: bus.Answers, Records: records, Note: note, Idle: len(records) == 0}
}

// begin looks what there is to ask for a timestep.
func (a *aid) begin(t lethe.Timestep) error {
	a.at, a.work = t, nil
	enough, err := a.enough(t)
	if err != nil || !enough {
		return err
	}
	a.work, err = a.l.over.questions(t)
	return err
}

// enough reports whether a timestep has so many transactions that help is worth the while. Slices are read until
// it has.
func (a *aid) enough(t lethe.Timestep) (bool, error) {
	transactions := 0
	for _, c := range a.l.columns {
		s, err := c.slice(t)
		if err != nil {
			return false, err
		}
		if transactions += len(s.Nodes); transactions >= a.l.o.ShareFrom {
			return true, nil
		}
	}
	return false, nil
}
