package role_test

import (
	"context"
	"time"

	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// echoing is an echo in one of several processes: the leader has the journal name what it takes, and those who stand by
// take the same. What was taken counts as sent once another entry follows.
type echoing struct {
	*echo
	as     *role.Standing
	topics role.Bus
	replay *role.Replay
}

// newEchoing opens one on the state of an echo.
func newEchoing(ctx context.Context, e *echo, as *role.Standing, topics role.Bus) (*echoing, error) {
	out := &echoing{e, as, topics, role.NewReplay("echo", journal.ForAll, journal.Position{Place: e.place})}
	if as.StandsBy() {
		return out, nil
	}
	err := as.Begin(ctx, topics, journal.ForAll, journal.Position{})
	if err == nil && as.Journal().Before().Behind(e.place) {
		err = as.StandByAgain()
	}
	return out, err
}

// Resume implements role.Logic.
func (e *echoing) Resume(source bus.TopicPartition, count int) (int64, error) {
	at, err := e.echo.Resume(source, count)
	e.replay.From(source, at)
	return at, err
}

// Wants implements role.Replayer.
func (e *echoing) Wants() map[bus.Topic]bool { return e.replay.Wants() }

func (e *echoing) Step(ctx context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	if e.as.StandsBy() {
		if err := e.follow(in); err != nil {
			return role.Output{}, err
		}
		_, waits := e.replay.Next()
		return role.Output{Idle: true, Waits: waits}, nil
	}
	if len(in.Messages) > 0 {
		source := in.Batch.Source
		consumed := journal.Consumed{Topic: string(source.Topic), Partition: source.Partition, Next: in.Batch.Next}
		if err := e.as.Journal().Append(ctx, e.topics.Write, consumed); err != nil {
			return role.Output{}, err
		}
		e.place = e.as.Journal().Done().Place
		e.takeAll(in)
	}
	if len(e.due) == 0 {
		return role.Output{Idle: true, Waits: e.waits}, nil
	}
	m := e.due[0]
	m.Key.Kind = wire.KindModel
	return role.Output{Messages: []wire.Message{m.Message}, Note: func() error {
		e.note()
		return nil
	}}, nil
}

func (e *echoing) follow(in role.Input) error {
	if err := e.replay.Take(in); err != nil {
		return err
	}
	for ; ; e.replay.Applied() {
		next, is := e.replay.Next()
		if !is {
			return nil
		}
		if c, consumes := next.Decision.(journal.Consumed); consumes {
			taken, there := e.replay.Messages(c)
			if !there {
				return nil
			}
			for e.place != next.Place() && len(e.due) > 0 {
				e.note()
			}
			e.takeAll(taken)
		}
		e.place = next.Place()
	}
}

func (e *echoing) takeAll(in role.Input) {
	for _, m := range in.Messages {
		e.say("take %s", m.Key)
		e.due, e.resume = append(e.due, m), m.Next
	}
}

func (e *echoing) note() {
	m := e.due[0]
	m.Key.Kind = wire.KindModel
	e.say("note %s", m.Key)
	e.due = e.due[1:]
}
