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
	s, p := f.around.Standing, &f.preparing
	if term := s.Lead.Term(); p.term == 0 && term != 0 {
		due, err := bus.EndsOf(ctx, f.around.Bus, append(slices.Clip(s.Open), bus.Journal)...)
		if err != nil {
			return false, err
		}
		maps.DeleteFunc(due, func(tp bus.TopicPartition, _ int64) bool { return !slices.Contains(f.follows, tp) })
		*p = preparing{term, due}
	}
	return s.Lead.passed(p.term) || p.term != 0 && s.Lead.prepares(p.term, p.due), nil
}

// askEvery is how often it is asked whether a process has read all that it reads before it leads.
const askEvery = 10 * time.Millisecond

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
		case <-time.After(askEvery):
		}
	}
}
