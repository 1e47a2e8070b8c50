package role

import (
	"context"
	"maps"
	"slices"
	"time"

	"lethe/ingest/bus"
)

// preparing is what a process that stands by reads before it leads in a term. It is asked for once the process is to
// lead in that: in between another one may have led, and have published what this one would publish again.
type preparing struct {
	term int64
	due  map[bus.TopicPartition]int64
}

// Prepared reports whether the role of a process that stands by is to be closed: it has read all that it reads before
// it leads in the present term, or the term in which it was to lead is over. Lead.Next says what it is opened for.
func (f *Follower) Prepared(ctx context.Context) (bool, error) {
	lead, open := f.around.Standing.Lead, f.around.Standing.reads()
	p := &f.preparing
	if term := lead.Term(); p.term == 0 && term != 0 {
		due, err := f.due(ctx, term)
		if err != nil {
			return false, err
		}
		*p = preparing{term, due}
	}
	return lead.passed(p.term) || p.term != 0 && lead.prepares(p.term, p.due, open), nil
}

// due returns up to where a process that stands by reads before it leads: to where the topics end that are read
// without waiting for the leader, and else to where those who led have dealt with everything, or what they published
// would be published again. Of what a Replayer does the journal tells all.
func (f *Follower) due(ctx context.Context, term int64) (map[bus.TopicPartition]int64, error) {
	s := f.around.Standing
	due, err := bus.EndsOf(ctx, f.around.Bus, s.reads()...)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(due, func(tp bus.TopicPartition, _ int64) bool { return !slices.Contains(f.follows, tp) })
	dealt, err := askEarlier(ctx, s.Lead, term, f.follows)
	if err != nil {
		return nil, err
	}
	if !f.replays() {
		for tp, next := range dealt {
			due[tp] = max(due[tp], next)
		}
	}
	return due, nil
}

// prepare waits until the role is to be closed, see Prepared, or has ended.
func (f *Follower) prepare(ctx context.Context, ended <-chan struct{}) error {
	select {
	case <-f.opened:
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-ended:
			stop()
		case <-asking.Done():
		}
	}()
	for {
		done, err := f.Prepared(asking)
		switch {
		case err != nil && asking.Err() != nil && ctx.Err() == nil:
			return nil // what ended the role says why
		case err != nil || done:
			return err
		}
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(gateEvery / 10):
		}
	}
}
