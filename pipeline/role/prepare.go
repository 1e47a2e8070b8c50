package role

import (
	"context"
	"errors"
	"maps"
	"slices"

	"lethe/ingest/bus"
)

// preparing is what a process that stands by reads before it leads in a term. It is asked for once the process is to
// lead in that: in between another one may have led, and have published what this one would publish again.
type preparing struct {
	term int64
	due  map[bus.TopicPartition]int64
}

// errPrepared ends the loop of a process that stands by: the role is to be opened for another term, or once more.
var errPrepared = errors.New("the role is to be opened anew")

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
